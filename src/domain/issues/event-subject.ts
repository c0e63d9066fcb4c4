import type { IssueContext } from "../../shapes/issues/issue.ts";

/** What each event about an issue or pull request says of it. */
export const eventSubject = ({ repo, row }: Pick<IssueContext, "repo" | "row">) => ({
  repoId: repo.row.id,
  ownerId: repo.row.ownerId,
  issueId: row.id,
  number: row.number,
  isPull: row.isPull,
});
