import { and, eq, sql } from "drizzle-orm";

import { isAllowed } from "../../auth/access/permission.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { issues, repositories, users } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import {
  isIssueVisible,
  isNumbered,
  type IssueQueryRow,
  selectIssues,
  toIssueContext,
} from "../issues/find-issue.ts";
import {
  findVisibleRepository,
  isNamed,
  selectRepositories,
  toRepositoryContext,
} from "../repos/find-repository.ts";
import { inDatabase } from "../shards/in-database.ts";

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
 * Finds an issue of a repository, and another one by its names.
 *
 * Cost: one batch; with shards two round trips more where the other one is not found in the same database.
 *
 * @throws Failure `not_found` if the caller may not see both.
 */
export async function findPair(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  { owner, repo: name, index }: IssueName,
): Promise<IssuePair> {
  const { db, actor } = ctx;
  const named = isNamed(owner, name);
  const otherRepoId = sql`(
    select ${repositories.id}
    from ${repositories}
    join ${users} on ${users.id} = ${repositories.ownerId}
    where ${named}
  )`;
  const [[row], [otherRepoRow], [otherRow]] = await db.batch([
    selectIssues(db).where(isNumbered(repo.row.id, number)),
    selectRepositories(db, callerSql(actor)).where(named),
    selectIssues(db).where(and(eq(issues.repoId, otherRepoId), eq(issues.number, index))),
  ]);
  if (!row || !isIssueVisible(repo, row.issue)) throw notFound("issue does not exist");
  const issue = toIssueContext(repo, row);
  if (!otherRow && ctx.openShards().size > 0) {
    return { issue, other: await findElsewhere(ctx, { owner, repo: name, index }) };
  }
  const otherRepo = otherRepoRow && toRepositoryContext(actor, otherRepoRow);
  return { issue, other: toVisibleIssue(otherRepo, otherRow) };
}

/** Finds an issue in the database of its repository. */
async function findElsewhere(ctx: Ctx, { owner, repo: name, index }: IssueName) {
  const repo = await findVisibleRepository(ctx, owner, name);
  if (!repo) throw notFound("repository does not exist");
  const { db } = inDatabase(ctx, repo.row.shard);
  const [row] = await selectIssues(db).where(isNumbered(repo.row.id, index));
  return toVisibleIssue(repo, row);
}

function toVisibleIssue(
  repo: RepositoryContext | undefined,
  row: IssueQueryRow | undefined,
): IssueContext {
  if (!repo || !isAllowed(repo, TO_SEE)) throw notFound("repository does not exist");
  if (!row || !isIssueVisible(repo, row.issue)) throw notFound("issue does not exist");
  return toIssueContext(repo, row);
}
