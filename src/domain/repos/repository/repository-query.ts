/** The filters and the order of a search. Undefined filters do not narrow the search. */
export interface RepositoryQuery {
  /** Part of the name, or parts of the owner's name and the name, separated by a slash. */
  text: string;
  isDescriptionSearched: boolean;
  isTopic: boolean;
  ownerId: number | undefined;
  /** Whether to exclude repositories that the owner only collaborates on. */
  isExclusive: boolean;
  /** The user who owns them, collaborates on them, reaches them by a team, or is offered them. */
  reachedById: number | undefined;
  priorityOwnerId: number | undefined;
  teamId: number | undefined;
  starredById: number | undefined;
  isPrivate: boolean | undefined;
  isTemplate: boolean | undefined;
  isArchived: boolean | undefined;
  /** The main language, as linguist calls it. */
  language: string | undefined;
  mode: "fork" | "source" | "mirror" | "collaborative" | undefined;
  sort: RepositorySort;
  isDescending: boolean;
}

/** The sort keys of a search. */
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

/** A search that finds all repositories that the caller may see, last changed first. */
export const ALL_REPOSITORIES: RepositoryQuery = {
  text: "",
  isDescriptionSearched: false,
  isTopic: false,
  ownerId: undefined,
  isExclusive: false,
  reachedById: undefined,
  priorityOwnerId: undefined,
  teamId: undefined,
  starredById: undefined,
  isPrivate: undefined,
  isTemplate: undefined,
  isArchived: undefined,
  language: undefined,
  mode: undefined,
  sort: "updated",
  isDescending: true,
};
