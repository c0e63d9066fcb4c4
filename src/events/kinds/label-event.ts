/** Changes of the labels of a repository, or of an organization without one. */
export interface LabelEvent {
  type: "label.created" | "label.edited" | "label.deleted";
  repoId: number | null;
  ownerId: number;
  labelId: number;
}
