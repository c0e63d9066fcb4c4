import { inArray, sql } from "drizzle-orm";

import { isAllowed } from "../../auth/access/permission.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import {
  crossShardDependencies,
  type Issue,
  issueDependencies,
  issues,
  repositories,
} from "../../db/schema/index.ts";
import { selectTotal } from "../../db/select-total.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { isIssueVisible, selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import { listFromAll } from "../shards/list-from-all.ts";
import { readByShard } from "../shards/read-by-shard.ts";
import type { Listed, Slice } from "../slice.ts";
import { isIssueAllowed } from "./issue-allowed.ts";
import { selectLinked } from "./select-linked.ts";

/** The issue whose dependencies are listed. */
type Subject = Pick<Issue, "id" | "repoId">;

/** An issue for which one waits. */
interface BlockerKey {
  readonly id: number;
  readonly repoId: number;
}

/**
 * Lists the issues for which one waits, where some of them are in other databases: as `listDependencies`, but without what was deleted a
 * moment ago.
 *
 * Cost: a round trip of the issue's database, one of the first database, and one of each database with some of the page.
 */
export async function listBlockersAcrossShards(
  ctx: Ctx,
  { id, repoId }: Subject,
  { size, offset }: Slice,
): Promise<Listed<IssueContext | undefined>> {
  const near = sql`
    select ${issues.id} as id, ${issues.repoId} as repo_id, ${issues.createdAt} as created_at
    from ${issueDependencies}
    join ${issues} on ${issues.id} = ${issueDependencies.blockerId}
    join ${repositories} on ${repositories.id} = ${issues.repoId}
    where ${issueDependencies.issueId} = ${id}`;
  const far = sql`
    select
      ${crossShardDependencies.blockerId},
      ${crossShardDependencies.blockerRepoId},
      ${crossShardDependencies.blockerCreatedAt}
    from ${crossShardDependencies}
    where ${crossShardDependencies.issueId} = ${id} and ${crossShardDependencies.isChecked}`;
  const all = sql`(${near} union all ${far}) blocker`;
  const [rows, [counted]] = await ctx.db.batch([
    ctx.db.textStatement(sql`
      select id, repo_id as "repoId" from ${all}
      order by repo_id <> ${repoId}, repo_id, created_at desc, id desc
      limit ${size} offset ${offset}`),
    selectTotal(ctx.db, sql`(select count(*) from ${all})`),
  ]);
  const keys = rows as BlockerKey[];
  const found = await findIssues(ctx, keys);
  return {
    items: keys.flatMap((key) => {
      const issue = found.get(key.id);
      return issue ? [issue.isSeen ? issue.context : undefined] : [];
    }),
    total: counted?.total ?? 0,
  };
}

/** Finds issues in the databases of their repositories, with whether the caller may see them. */
async function findIssues(ctx: Ctx, keys: readonly BlockerKey[]) {
  const { actor, directory } = ctx;
  const repoIds = JSON.stringify(keys.map(({ repoId }) => repoId));
  const rows =
    keys.length === 0
      ? []
      : await selectRepositories(directory, callerSql(actor)).where(
          inArray(repositories.id, sql`(select value from json_each(${repoIds}))`),
        );
  const repos = new Map(rows.map((row) => [row.repo.id, toRepositoryContext(actor, row)]));
  const shardOf = ({ repoId }: BlockerKey) => repos.get(repoId)?.row.shard;
  const found = await readByShard(ctx, keys, shardOf, (db, some) => {
    const ids = JSON.stringify(some.map(({ id }) => id));
    return selectIssues(db).where(inArray(issues.id, sql`(select value from json_each(${ids}))`));
  });
  return new Map(
    found.flatMap((row) => {
      const repo = repos.get(row.issue.repoId);
      if (!repo) return [];
      const isSeen = isAllowed(repo, TO_SEE) && isIssueVisible(repo, row.issue);
      return [[row.issue.id, { isSeen, context: toIssueContext(repo, row) }] as const];
    }),
  );
}

/**
 * Lists the issues of all databases that wait for one, as `listWaiting`. Each database leaves out what the caller may not see.
 *
 * Cost: one round trip, to all databases at once.
 */
export const listWaitingInAllShards = (
  ctx: Ctx,
  subject: Subject,
  slice: Slice,
): Promise<Listed<IssueContext>> =>
  listFromAll(ctx, slice, (part, partSlice) => listWaitingIn(part, subject, partSlice), {
    isBefore: ({ row: one }, { row: other }) =>
      compare(
        [Number(one.repoId !== subject.repoId), Number(other.repoId !== subject.repoId)],
        [one.repoId, other.repoId],
        [other.createdAt, one.createdAt],
        [other.id, one.id],
      ) < 0,
  });

const compare = (...pairs: readonly (readonly [number, number])[]): number =>
  pairs.map(([one, other]) => one - other).find((difference) => difference !== 0) ?? 0;

/** Lists the waiting issues of one database. */
async function listWaitingIn(
  { db, actor }: Ctx,
  { id, repoId }: Subject,
  { size, offset }: Slice,
): Promise<Listed<IssueContext>> {
  const principal = principalOf(actor);
  const waitingIds = sql`(
    select ${issueDependencies.issueId}
    from ${issueDependencies} where ${issueDependencies.blockerId} = ${id}
    union all
    select ${crossShardDependencies.issueId}
    from ${crossShardDependencies}
    where ${crossShardDependencies.blockerId} = ${id} and ${crossShardDependencies.isChecked}
  )`;
  const linked = sql`
    from ${issues}
    join ${repositories} on ${repositories.id} = ${issues.repoId}
    where ${allOf(sql`${issues.id} in ${waitingIds}`, isIssueAllowed(principal))}`;
  const page = { principal, repoId, size, offset };
  const [rows, repoRows, [counted]] = await db.batch(selectLinked(db, linked, page));
  const repos = new Map(repoRows.map((row) => [row.repo.id, toRepositoryContext(actor, row)]));
  return {
    items: rows.flatMap((row) => {
      const repo = repos.get(row.issue.repoId);
      return repo ? [toIssueContext(repo, row)] : [];
    }),
    total: counted?.total ?? 0,
  };
}
