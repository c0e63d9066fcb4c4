import { asc, eq, ne, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { requestedTeams } from "../../../auth/access/requested-teams.ts";
import {
  callerArgument,
  type CallerArgument,
  callerSql,
  type CallerSql,
  toCallerSql,
} from "../../../auth/caller-sql.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, type Database, qualified } from "../../../db/db.ts";
import { idOfNamed } from "../../../db/ids-of-names.ts";
import { type Params, prepare, prepareAll, type PreparedQueries } from "../../../db/prepared.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import {
  branchTips,
  issues,
  milestones,
  pulls,
  repositories,
  reviews,
  timelineEntries,
  users,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import {
  isIssueVisible,
  isNumbered,
  issueColumns,
  toIssueContext,
} from "../../issues/issue/find-issue.ts";
import { newNumberIn } from "../../issues/issue/new-issue-id.ts";
import {
  type RepositoryRow,
  selectRepositories,
  toRepositoryContext,
} from "../../repos/repository/find-repository.ts";

/** The value of a branch of a pull request; null if the branch does not exist. */
const tipOf = (repoId: SQL, branch: SQL, name: string) =>
  qualified<string | null>(sql`(
    select ${branchTips.oid}
    from ${branchTips}
    where ${branchTips.repoId} = ${repoId} and ${branchTips.branch} = ${branch}
  )`).as(name);

/**
 * Selects pull requests with everything that their JSON shows but the repositories of their heads;
 * one query, any number of rows. As for `selectIssues`, a query that sorts should select the ids of
 * its page in a subquery.
 */
export const selectPulls = (db: Database) =>
  db
    .select({
      ...issueColumns(),
      merger: jsonRows(users, sql`from ${users} where ${users.id} = ${pulls.mergerId}`, "merger"),
      baseTip: tipOf(sql`${pulls.repoId}`, sql`${pulls.baseBranch}`, "base_tip"),
      headTip: tipOf(sql`${pulls.headRepoId}`, sql`${pulls.headBranch}`, "head_tip"),
      // As in Gitea, reviewers stay in the list until their review is dismissed.
      requestedReviewers: jsonRows(
        users,
        sql`
          from ${reviews}
          join ${users} on ${users.id} = ${reviews.reviewerId}
          where ${reviews.id} in (
            select max(latest.id)
            from ${reviews} latest
            where latest.issue_id = ${issues.id} and latest.reviewer_id is not null
              and latest.state <> 'pending' and not latest.is_dismissed
            group by latest.reviewer_id
          )
          order by ${reviews.id}`,
        "requested_reviewers",
      ),
      requestedTeams: requestedTeams(sql`${issues.id}`),
      reviewCommentCount: qualified<number>(sql`(
        select count(*)
        from ${timelineEntries}
        where ${timelineEntries.issueId} = ${issues.id} and ${timelineEntries.kind} = 'review'
          and not exists (
            select 1 from ${reviews}
            where ${reviews.id} = ${timelineEntries.reviewId} and ${reviews.state} = 'pending'
          )
      )`).as("review_comment_count"),
    })
    .from(issues)
    .innerJoin(pulls, eq(pulls.issueId, issues.id))
    .leftJoin(users, eq(users.id, issues.posterId))
    .leftJoin(milestones, eq(milestones.id, issues.milestoneId))
    .$dynamic();

/** A row of `selectPulls`. */
export type PullQueryRow = Awaited<ReturnType<typeof selectPulls>>[number];

/** `selectHeads` for a caller that is already resolved. */
export const selectHeadRepositories = ({ db, actor }: Ctx, repoId: number, ids: SQL) =>
  selectHeads(db, callerSql(actor), repoId, ids);

/**
 * Selects the repositories of the heads of pull requests, where they are not `repoId`.
 *
 * @param ids Selects the ids of the pull requests.
 */
export const selectHeads = (db: Database, caller: CallerSql, repoId: number | SQL, ids: SQL) =>
  selectRepositories(db, caller).where(
    allOf(
      sql`${repositories.id} in (
        select ${pulls.headRepoId} from ${pulls} where ${pulls.issueId} in (${ids})
      )`,
      ne(repositories.id, repoId),
    ),
  );

/** @param headRepos The repositories of heads other than `repo`, as far as they exist. */
export function toPullContext(
  repo: RepositoryContext,
  row: PullQueryRow,
  headRepos: readonly RepositoryContext[],
): PullContext {
  const [pull] = row.pulls;
  if (!pull) throw new Error("a pull request without its row");
  const isOwn = pull.headRepoId === repo.row.id;
  return {
    ...toIssueContext(repo, row),
    pull,
    baseTip: row.baseTip ?? undefined,
    headTip: pull.flow === "agit" ? undefined : (row.headTip ?? undefined),
    headRepo: isOwn
      ? repo
      : withParent(headRepos.find(({ row: { id } }) => id === pull.headRepoId)),
    merger: row.merger[0],
    requestedReviewers: row.requestedReviewers,
    requestedTeams: row.requestedTeams,
    reviewCommentCount: row.reviewCommentCount,
  };

  /** A fork is shown with what it was forked from, which is the base's repository as a rule. */
  function withParent(fork: RepositoryContext | undefined): RepositoryContext | undefined {
    return fork?.row.parentId === repo.row.id ? { ...fork, parent: repo } : fork;
  }
}

/**
 * The statements that load one pull request, by name, for `toOnePull`.
 *
 * @param number Undefined for the one that the batch has inserted.
 */
export function pullStatements({ db, actor }: Ctx, repo: RepositoryContext, number?: number) {
  return onePull(db, {
    caller: callerArgument(actor),
    repoId: repo.row.id,
    ...(number !== undefined && { number }),
  });
}

const onePull = prepareAll(
  (db, p: Params<{ caller: CallerArgument; repoId: number; number?: number }>) => {
    const { repoId, number = newNumberIn(repoId) } = p;
    return selectOnePull(db, toCallerSql(p.caller), repoId, isNumbered(repoId, number));
  },
);

/**
 * The same by its number and the names of its repository, for a batch that is sent before the
 * repository is known.
 */
export function selectPullByName(
  db: Database,
  caller: CallerArgument,
  { owner, name }: { readonly owner: string; readonly name: string },
  number: number,
) {
  const named = { caller, number, owner: owner.toLowerCase(), name: name.toLowerCase() };
  return [pullByName(db, named), headByName(db, named)] as const;
}

type ByName = Params<{ caller: CallerArgument; owner: string; name: string; number: number }>;

const pullByName = prepare((db, { owner, name, number }: ByName) =>
  selectPull(db, isNumbered(idOfNamed(owner, name), number)),
);

const headByName = prepare((db, { caller, owner, name, number }: ByName) => {
  const repoId = idOfNamed(owner, name);
  return selectHead(db, toCallerSql(caller), repoId, isNumbered(repoId, number));
});

type ByNumber = Params<{ caller: CallerArgument; repoId: number; number: number }>;

const pullByNumber = prepare((db, { repoId, number }: ByNumber) =>
  selectPull(db, isNumbered(repoId, number)),
);

const headByNumber = prepare((db, { caller, repoId, number }: ByNumber) =>
  selectHead(db, toCallerSql(caller), repoId, isNumbered(repoId, number)),
);

const selectOnePull = (db: Database, caller: CallerSql, repoId: number | SQL, condition: SQL) => ({
  rows: selectPull(db, condition),
  heads: selectHead(db, caller, repoId, condition),
});

const selectPull = (db: Database, condition: SQL) =>
  selectPulls(db).where(condition).orderBy(asc(issues.id)).limit(1);

const selectHead = (db: Database, caller: CallerSql, repoId: number | SQL, condition: SQL) =>
  selectHeads(
    db,
    caller,
    repoId,
    sql`
      select ${issues.id}
      from ${issues} join ${pulls} on ${pulls.issueId} = ${issues.id}
      where ${condition}`,
  );

/** The results of `pullStatements`. */
interface PullRows {
  readonly rows: readonly PullQueryRow[];
  readonly heads: readonly RepositoryRow[];
}

/** The pull request that `pullStatements` found; undefined for none. */
export function toOnePull(
  { actor }: Ctx,
  repo: RepositoryContext,
  { rows: [row], heads }: PullRows,
): PullContext | undefined {
  const contexts = heads.map((each) => toRepositoryContext(actor, each));
  return row && toPullContext(repo, row, contexts);
}

/**
 * Finds a pull request of a repository by its number.
 *
 * Cost: one query.
 *
 * @throws Failure `not_found` also for an issue, and where the caller may not see the unit.
 */
export async function findPull(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
): Promise<PullContext> {
  const { db, actor } = ctx;
  const named = { caller: callerArgument(actor), repoId: repo.row.id, number };
  const found = await batch(db, { rows: pullByNumber(db, named), heads: headByNumber(db, named) });
  return requirePull(repo, toOnePull(ctx, repo, found));
}

/**
 * Finds the pull request of two branches: the open one, or else the last one.
 *
 * @throws Failure as `findPull`.
 */
export const findPullOfBranches = (
  ctx: Ctx,
  repo: RepositoryContext,
  { base, headRepoId, head }: { base: string; headRepoId: number; head: string },
): Promise<PullContext> => findOne(ctx, repo, pullOfBranches, { base, headRepoId, head });

const pullOfBranches = prepareAll(
  (db, p: Params<OneOfRepository & { readonly base: string; headRepoId: number; head: string }>) =>
    selectOnePull(
      db,
      toCallerSql(p.caller),
      p.repoId,
      sql`${issues.id} = (
        select issue_id from ${pulls}
        where ${pulls.headRepoId} = ${p.headRepoId}
          and ${pulls.headBranch} = ${p.head}
          and ${pulls.repoId} = ${p.repoId}
          and ${pulls.baseBranch} = ${p.base}
          and ${pulls.flow} = 'branch'
        order by ${pulls.isClosed}, ${pulls.issueId} desc
        limit 1
      )`,
    ),
);

/**
 * Finds the pull request that a commit is the merge of.
 *
 * @throws Failure as `findPull`.
 */
export const findPullOfCommit = (
  ctx: Ctx,
  repo: RepositoryContext,
  commitOid: string,
): Promise<PullContext> => findOne(ctx, repo, pullOfCommit, { commitOid });

const pullOfCommit = prepareAll((db, p: Params<OneOfRepository & { commitOid: string }>) =>
  selectOnePull(
    db,
    toCallerSql(p.caller),
    p.repoId,
    sql`${issues.id} = (
      select issue_id from ${pulls}
      where ${pulls.repoId} = ${p.repoId}
        and ${pulls.mergeCommitOid} = ${p.commitOid}
        and ${pulls.mergeCommitOid} <> ''
      order by ${pulls.issueId}
      limit 1
    )`,
  ),
);

/** The caller and the repository in which a pull request is searched. */
interface OneOfRepository {
  readonly caller: CallerArgument;
  readonly repoId: number;
}

type OnePull = ReturnType<typeof selectOnePull>;

async function findOne<A extends object>(
  ctx: Ctx,
  repo: RepositoryContext,
  statements: PreparedQueries<OneOfRepository & A, unknown, OnePull>,
  args: A,
): Promise<PullContext> {
  const { db, actor } = ctx;
  const found = await batch(
    db,
    statements(db, { caller: callerArgument(actor), repoId: repo.row.id, ...args }),
  );
  return requirePull(repo, toOnePull(ctx, repo, found));
}

/**
 * The pull request that was found, if the caller may see it.
 *
 * @throws Failure `not_found` without one, and where the caller may not see the unit.
 */
export function requirePull(repo: RepositoryContext, pull: PullContext | undefined): PullContext {
  if (!pull || !isIssueVisible(repo, pull.row)) throw notFound("pull request does not exist");
  return pull;
}
