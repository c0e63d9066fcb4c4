import { inArray, sql } from "drizzle-orm";

import { isAllowed } from "../../auth/access/permission.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import { toCallerSql } from "../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../db/prepared.ts";
import {
  crossShardDependencies,
  type Issue,
  issueDependencies,
  issues,
  repositories,
} from "../../db/schema/index.ts";
import { selectTotal } from "../../db/select-total.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import {
  isIssueVisible,
  selectIssues,
  toIssueContext,
  toIssueContexts,
} from "../issues/find-issue.ts";
import { selectRepositories, toRepositoriesById } from "../repos/find-repository.ts";
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
  const [keys, [counted]] = await ctx.db.batch(blockersPage(ctx.db, { id, repoId, size, offset }));
  const found = await findIssues(ctx, keys);
  return {
    items: keys.flatMap((key) => {
      const issue = found.get(key.id);
      return issue ? [issue.isSeen ? issue.context : undefined] : [];
    }),
    total: counted?.total ?? 0,
  };
}

const blockersPage = prepareAll((db, { id, repoId, size, offset }: Params<Subject & Slice>) => {
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
  return [
    db
      .select({ id: sql<number>`id`, repoId: sql<number>`repo_id` })
      .from(all)
      .orderBy(sql`repo_id <> ${repoId}, repo_id, created_at desc, id desc`)
      .limit(size)
      .offset(offset),
    selectTotal(db, sql`(select count(*) from ${all})`),
  ] as const;
});

/** Finds issues in the databases of their repositories, with whether the caller may see them. */
async function findIssues(ctx: Ctx, keys: readonly BlockerKey[]) {
  const { actor, directory } = ctx;
  const repoIds = keys.map(({ repoId }) => repoId);
  const rows =
    keys.length === 0
      ? []
      : await repositoriesWithIds(directory, { principal: principalOf(actor), repoIds });
  const repos = toRepositoriesById(actor, rows);
  const shardOf = ({ repoId }: BlockerKey) => repos.get(repoId)?.row.shard;
  const found = await readByShard(ctx, keys, shardOf, (db, some) =>
    issuesWithIds(db, { ids: some.map(({ id }) => id) }),
  );
  return new Map(
    found.flatMap((row) => {
      const repo = repos.get(row.issue.repoId);
      if (!repo) return [];
      const isSeen = isAllowed(repo, TO_SEE) && isIssueVisible(repo, row.issue);
      return [[row.issue.id, { isSeen, context: toIssueContext(repo, row) }] as const];
    }),
  );
}

const repositoriesWithIds = prepare(
  (db, p: Params<{ principal: Principal; repoIds: readonly number[] }>) =>
    selectRepositories(db, toCallerSql(p.principal)).where(inArray(repositories.id, p.repoIds)),
);

const issuesWithIds = prepare((db, { ids }: Params<{ ids: readonly number[] }>) =>
  selectIssues(db).where(inArray(issues.id, ids)),
);

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
  const page = { principal: principalOf(actor), id, repoId, size, offset };
  const [rows, repoRows, [counted]] = await db.batch(waitingPage(db, page));
  return {
    items: toIssueContexts(toRepositoriesById(actor, repoRows), rows),
    total: counted?.total ?? 0,
  };
}

type WaitingPage = Subject & Slice & { readonly principal: Principal };

const waitingPage = prepareAll((db, { id, ...page }: Params<WaitingPage>) => {
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
    where ${allOf(sql`${issues.id} in ${waitingIds}`, isIssueAllowed(page.principal))}`;
  return selectLinked(db, linked, page);
});
