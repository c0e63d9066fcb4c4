import { and, asc, count, desc, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  commitStatuses,
  type CommitState,
  type Repository,
  users,
} from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import type { CombinedState, StatusEntry } from "../../../shapes/git/commit-status.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

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
  const asked = { repoId: repo.id, commitOid, state, isOldestFirst, size, offset };
  return toListedPage(await batch(ctx.db, statusPage(ctx.db, asked)), toEntry);
}

const statusPage = prepareAll((db, p: Params<StatusesOfCommit & StatusQuery>) => {
  const isListed = and(isOfCommit(p), p.state && eq(commitStatuses.state, p.state));
  return {
    rows: selectStatuses(db)
      .where(isListed)
      .orderBy((p.isOldestFirst ? asc : desc)(commitStatuses.number))
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: count().as("total") })
      .from(commitStatuses)
      .where(isListed),
  };
});

/** Lists the latest status of each context of a commit, with the combined state. */
export async function combineStatuses(
  ctx: Ctx,
  repo: Repository,
  commitOid: Oid,
  { size, offset }: Slice,
): Promise<Listed<StatusEntry> & { state: CombinedState }> {
  const asked = { repoId: repo.id, commitOid, size, offset };
  const { rows, counts } = await batch(ctx.db, latestStatuses(ctx.db, asked));
  return {
    items: rows.map(toEntry),
    total: counts.reduce((sum, each) => sum + each.count, 0),
    state: combineStates(new Set(counts.map((each) => each.state))),
  };
}

const latestStatuses = prepareAll((db, p: Params<StatusesOfCommit>) => {
  const isThis = isOfCommit(p);
  const latest = sql`(
    select max(${commitStatuses.number})
    from ${commitStatuses}
    where ${isThis}
    group by ${commitStatuses.context}
  )`;
  const isLatest = and(isThis, sql`${commitStatuses.number} in ${latest}`);
  return {
    rows: selectStatuses(db)
      .where(isLatest)
      .orderBy(desc(commitStatuses.number))
      .limit(p.size)
      .offset(p.offset),
    counts: db
      .select({ state: commitStatuses.state, count: count().as("n") })
      .from(commitStatuses)
      .where(isLatest)
      .groupBy(commitStatuses.state),
  };
});

/** The state of a commit from the states of its contexts. */
export function combineStates(states: ReadonlySet<CommitState>): CombinedState {
  if (states.size === 0) return "";
  if (states.has("error") || states.has("failure")) return "failure";
  return states.has("pending") ? "pending" : "success";
}

interface StatusesOfCommit extends Slice {
  readonly repoId: number;
  readonly commitOid: string;
}

const isOfCommit = ({ repoId, commitOid }: Params<StatusesOfCommit>): SQL | undefined =>
  and(eq(commitStatuses.repoId, repoId), eq(commitStatuses.commitOid, commitOid));

const selectStatuses = (db: Database) =>
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
