import { and, eq, sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { issues, repositories, users } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered, selectIssues, toIssueContext } from "../issue/find-issue.ts";
import {
  isNamed,
  selectRepositories,
  toRepositoryContext,
} from "../../repos/repository/find-repository.ts";

/** The names of an issue or pull request of any repository. */
export interface IssueName {
  readonly owner: string;
  readonly repo: string;
  readonly index: number;
}

/** Two issues or pull requests, which may be the same. */
export interface IssuePair {
  readonly issue: IssueContext;
  readonly other: IssueContext;
}

/**
 * Finds an issue of a repository, and another one by its names. Cost: one batch.
 *
 * @throws Failure `not_found` if the caller may not see both.
 */
export async function findPair(
  { db, actor }: Ctx,
  repo: RepositoryContext,
  number: number,
  { owner, repo: name, index }: IssueName,
): Promise<IssuePair> {
  const named = isNamed(owner, name);
  const otherRepoId = sql`(
    select ${repositories.id}
    from ${repositories}
    join ${users} on ${users.id} = ${repositories.ownerId}
    where ${named}
  )`;
  const found = await batch(db, {
    issue: selectIssues(db).where(isNumbered(repo.row.id, number)),
    otherRepo: selectRepositories(db, callerSql(actor)).where(named),
    other: selectIssues(db).where(and(eq(issues.repoId, otherRepoId), eq(issues.number, index))),
  });
  const {
    issue: [row],
    otherRepo: [otherRepoRow],
    other: [otherRow],
  } = found;
  const otherRepo = otherRepoRow && toRepositoryContext(actor, otherRepoRow);
  if (!row || !isIssueVisible(repo, row.issue)) throw notFound("issue does not exist");
  if (!otherRepo || !isAllowed(otherRepo, TO_SEE)) throw notFound("repository does not exist");
  if (!otherRow || !isIssueVisible(otherRepo, otherRow.issue)) {
    throw notFound("issue does not exist");
  }
  return { issue: toIssueContext(repo, row), other: toIssueContext(otherRepo, otherRow) };
}
