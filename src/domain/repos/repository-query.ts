/** What is searched for. Whatever is left out does not narrow the search. */
export interface RepositoryQuery {
  /** Part of the name, or of the owner's name and the name with a slash between. */
  text: string;
  isDescriptionSearched: boolean;
  isTopic: boolean;
  ownerId: number | undefined;
  /** Whether what the owner has a role in elsewhere is left out. */
  isExclusive: boolean;
  priorityOwnerId: number | undefined;
  teamId: number | undefined;
  starredById: number | undefined;
  isPrivate: boolean | undefined;
  isTemplate: boolean | undefined;
  isArchived: boolean | undefined;
  mode: "fork" | "source" | "mirror" | "collaborative" | undefined;
  sort: RepositorySort;
  isDescending: boolean;
}

/** The orders that a search can have. */
export type RepositorySort =
  | "alpha"
  | "id"
  | "created"
  | "updated"
  | "size"
  | "git_size"
  | "lfs_size"
  | "stars"
  | "forks";
