import { and, asc, count, desc, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { commitStatuses, type CommitState, type Repository, users } from "../../db/schema/index.ts";
import type { Oid } from "../../git/oid.ts";
import type { CombinedState, StatusEntry } from "../../shapes/git/commit-status.ts";
import type { Listed, Slice } from "../slice.ts";

/** The filter and order of a list of statuses. */
export interface StatusQuery {
  state: CommitState | undefined;
  isOldestFirst: boolean;
}

/** Lists the statuses of a commit, including superseded ones. */
export async function listStatuses(
  ctx: Ctx,
  repo: Repository,
  commitOid: Oid,
  { state, isOldestFirst }: StatusQuery,
  { size, offset }: Slice,
): Promise<Listed<StatusEntry>> {
  const isListed = and(
    isOfCommit(repo, commitOid),
    state === undefined ? undefined : eq(commitStatuses.state, state),
  );
  const [rows, [counted]] = await ctx.db.batch([
    selectStatuses(ctx)
      .where(isListed)
      .orderBy((isOldestFirst ? asc : desc)(commitStatuses.number))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: count().as("total") })
      .from(commitStatuses)
      .where(isListed),
  ]);
  return { items: rows.map(toEntry), total: counted?.total ?? 0 };
}

/** Lists the latest status of each context of a commit, with the combined state. */
export async function combineStatuses(
  ctx: Ctx,
  repo: Repository,
  commitOid: Oid,
  { size, offset }: Slice,
): Promise<Listed<StatusEntry> & { state: CombinedState }> {
  const isThis = isOfCommit(repo, commitOid);
  const latest = sql`(
    select max(${commitStatuses.number})
    from ${commitStatuses}
    where ${isThis}
    group by ${commitStatuses.context}
  )`;
  const isLatest = and(isThis, sql`${commitStatuses.number} in ${latest}`);
  const [rows, counts] = await ctx.db.batch([
    selectStatuses(ctx)
      .where(isLatest)
      .orderBy(desc(commitStatuses.number))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ state: commitStatuses.state, count: count().as("n") })
      .from(commitStatuses)
      .where(isLatest)
      .groupBy(commitStatuses.state),
  ]);
  return {
    items: rows.map(toEntry),
    total: counts.reduce((sum, each) => sum + each.count, 0),
    state: combine(new Set(counts.map((each) => each.state))),
  };
}

function combine(states: ReadonlySet<CommitState>): CombinedState {
  if (states.size === 0) return "";
  if (states.has("error") || states.has("failure")) return "failure";
  return states.has("pending") ? "pending" : "success";
}

const isOfCommit = (repo: Repository, commitOid: Oid): SQL | undefined =>
  and(eq(commitStatuses.repoId, repo.id), eq(commitStatuses.commitOid, commitOid));

const selectStatuses = ({ db }: Ctx) =>
  db
    .select({ status: columnsOf(commitStatuses, "s"), creator: columnsOf(users, "u") })
    .from(commitStatuses)
    .leftJoin(users, eq(users.id, commitStatuses.creatorId))
    .$dynamic();

type Row = Awaited<ReturnType<typeof selectStatuses>>[number];

// For a deleted account the left join returns columns of nulls.
const toEntry = ({ status, creator }: Row): StatusEntry => ({
  status,
  creator: status.creatorId === null ? undefined : (creator ?? undefined),
});
