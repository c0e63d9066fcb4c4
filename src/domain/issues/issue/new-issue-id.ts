import { sql, type SQL } from "drizzle-orm";

import { issues, repositories } from "../../../db/schema/index.ts";

/** The number of the issue or pull request that this batch has inserted in a repository. */
export const newNumberIn = (repoId: number | SQL) => sql<number>`(
  select ${repositories.lastIssueNumber}
  from ${repositories}
  where ${repositories.id} = ${repoId}
)`;

/** Its id, likewise. */
export const newIdIn = (repoId: number | SQL) => sql<number>`(
  select ${issues.id}
  from ${issues}
  where ${issues.repoId} = ${repoId} and ${issues.number} = ${newNumberIn(repoId)}
)`;

/**
 * The ids of an issue as an argument of a prepared query; without `issueId`, the one that the batch
 * inserts.
 */
export interface IssueArgument {
  readonly repoId: number;
  readonly issueId?: number;
}

/**
 * The id of the issue that a prepared query is about, and the fields of its event that the query
 * computes.
 */
export function issueSql({ repoId, issueId }: { repoId: SQL; issueId?: SQL<number> }) {
  return issueId
    ? { issueId, computed: {} }
    : {
        issueId: newIdIn(repoId),
        computed: { issueId: newIdIn(repoId), number: newNumberIn(repoId) },
      };
}
