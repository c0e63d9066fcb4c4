import type { IssueContext } from "../../../shapes/issues/issue.ts";

/** The fields of an event that name its issue or pull request. */
export const eventSubject = ({ repo, row }: Pick<IssueContext, "repo" | "row">) => ({
  repoId: repo.row.id,
  ownerId: repo.row.ownerId,
  issueId: row.id,
  number: row.number,
  isPull: row.isPull,
});
