import { and, eq, inArray, lte, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  crossShardDependencies,
  crossShardEntries,
  type CrossShardEntry,
  crossShardReferences,
  issues,
  timelineEntries,
  type TimelineKind,
} from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";
import { WorkBudget } from "../../lib/work-budget.ts";
import { giveCopies } from "./give-copies.ts";
import { findRepositoryShards } from "../shards/find-repository-shards.ts";

/** Duration of a lease, in milliseconds: much longer than a round with its calls may take. No round starts after `WORK_MS`. */
const LEASE_MS = 120 * 1000;
const WORK_MS = 20 * 1000;
/** Entries that are leased at once, and rounds of one run; the next run continues. */
const ENTRIES_AT_ONCE = 50;
const ROUNDS_MAX = 10;
/** The delay after the first failure and the longest delay, in milliseconds; it quadruples with each failure. */
const DELAY_MS = 30 * 1000;
const DELAY_MS_MAX = 60 * 60 * 1000;

/**
 * Writes entries into timelines of other databases that tell of issues and comments of this one, and removes those of what is gone. Safe
 * to repeat and to run concurrently: a lease gives each entry to one run at a time, and an entry is written once.
 *
 * A database that fails does not keep the others from theirs, and is tried again later.
 *
 * Cost: nothing without shards; one round trip if nothing is due, otherwise two of this database, two of the first one and one of each
 * other one for fifty entries.
 *
 * @param rounds Rounds of fifty entries.
 */
export async function sendEntries(ctx: Ctx, rounds = ROUNDS_MAX): Promise<void> {
  if (ctx.openShards().size === 0) return;
  const budget = new WorkBudget(ctx.now, { ms: WORK_MS, statements: Infinity });
  for (let round = 0; round < rounds && !budget.isExhausted; round++) {
    const { now } = budget;
    const leased = await ctx.db
      .update(crossShardEntries)
      .set({ dueAt: now + LEASE_MS, attempts: sql`${crossShardEntries.attempts} + 1` })
      .where(
        sql`${crossShardEntries.id} in (
          select id from ${crossShardEntries}
          where ${crossShardEntries.dueAt} <= ${now}
          order by ${crossShardEntries.dueAt}, ${crossShardEntries.id}
          limit ${ENTRIES_AT_ONCE}
        )`,
      )
      .returning();
    if (leased.length === 0) return;
    await sendLeased(
      ctx,
      leased.toSorted((one, other) => one.id - other.id),
    );
    if (leased.length < ENTRIES_AT_ONCE) return;
  }
}

/** Selects an entry that is due, if there is one. */
export const selectDueEntry = (db: Database, now: number) =>
  db
    .select({ id: crossShardEntries.id })
    .from(crossShardEntries)
    .where(lte(crossShardEntries.dueAt, now))
    .limit(1);

/** The same for a request, which does not fail with it: jobs send what is left. */
export async function sendEntriesNow(ctx: Ctx): Promise<void> {
  try {
    await sendEntries(ctx, 1);
  } catch (error) {
    logBug("cross-shard-entries", error);
  }
}

async function sendLeased(ctx: Ctx, leased: readonly CrossShardEntry[]): Promise<void> {
  const shards = await findRepositoryShards(
    ctx,
    leased.map(({ toRepoId }) => toRepoId),
  );
  await giveCopies(
    ctx,
    leased.flatMap(({ kind, state, repoId, toRepoId }) => {
      const shardId = shards.get(toRepoId);
      if (shardId === undefined || state === "gone") return [];
      // Both issues have entries about a dependency.
      const back = isOfDependency(kind) ? [{ shardId: ctx.db.shard, repoId: toRepoId }] : [];
      return [{ shardId, repoId }, ...back];
    }),
  );
  const byShard = Map.groupBy(leased, ({ toRepoId }) => shards.get(toRepoId));
  await Promise.all(
    [...byShard].map(async ([shard, entries]) => {
      try {
        const lost = shard === undefined ? entries : await sendTo(ctx.openShard(shard), entries);
        await ctx.db.batch(finish(ctx.db, entries, lost));
      } catch (error) {
        logBug(`cross-shard-entries to ${shard}`, error);
        await postpone(ctx, entries);
      }
    }),
  );
}

const isOfDependency = (kind: TimelineKind): boolean =>
  kind === "add_dependency" || kind === "remove_dependency";

/** @returns The entries whose issue does not exist any more. */
async function sendTo(
  to: Database,
  entries: readonly CrossShardEntry[],
): Promise<readonly CrossShardEntry[]> {
  const ids = JSON.stringify(entries.map(({ toIssueId }) => toIssueId));
  const [found] = await to.batch([
    to
      .select({ id: issues.id })
      .from(issues)
      .where(inArray(issues.id, sql`(select value from json_each(${ids}))`)),
    ...entries.flatMap((entry) => (entry.state === "gone" ? remove(to, entry) : add(to, entry))),
  ]);
  const known = new Set(found.map(({ id }) => id));
  return entries.filter(({ toIssueId }) => !known.has(toIssueId));
}

/** The statements that add an entry, unless it was added before. Timelines of archived repositories do not change. */
function add(to: Database, entry: CrossShardEntry): BatchItem<"sqlite">[] {
  const { id, kind, repoId, issueId, isPull, commentId, toRepoId, toIssueId, createdAt } = entry;
  const isTarget = sql`target.id = ${toIssueId} and target.repo_id = ${toRepoId}`;
  const added = insertSelect(
    to,
    timelineEntries,
    {
      repoId: toRepoId,
      issueId: toIssueId,
      kind,
      refAction: entry.refAction,
      posterId: sql`(select id from users where id = ${entry.posterId})`,
      createdAt,
      updatedAt: createdAt,
    },
    sql`
      from ${issues} target
      join repositories on repositories.id = target.repo_id
      where ${isTarget} and repositories.archived_at is null
        and not exists (select 1 from ${crossShardReferences} where sent_id = ${id})`,
  );
  const reference = insertSelect(
    to,
    crossShardReferences,
    { entryId: sql`last_insert_rowid()`, sentId: id, repoId, issueId, isPull, commentId },
    sql`where changes() > 0`,
  );
  if (!isOfDependency(kind)) return [added, reference];
  // With it, the deletion of the other issue comes back to this one.
  const back = insertSelect(
    to,
    crossShardEntries,
    {
      repoId: toRepoId,
      issueId: toIssueId,
      isPull: sql`target.is_pull`,
      toRepoId: repoId,
      toIssueId: issueId,
      toNumber: 0,
      kind,
      state: "sent",
      createdAt,
    },
    sql`
      from ${issues} target
      where ${isTarget} and not exists (
        select 1 from ${crossShardEntries} known
        where known.issue_id = ${toIssueId} and known.to_issue_id = ${issueId}
          and known.kind in ('add_dependency', 'remove_dependency')
      )`,
  );
  return [added, reference, back];
}

/** The statements that remove what was sent, and for a dependency also what the other side has of the issue that is gone. */
function remove(to: Database, { id, kind, issueId, toIssueId }: CrossShardEntry) {
  return [
    deleteEntries(to, toIssueId, sql`told.sent_id = ${id}`),
    ...(isOfDependency(kind) ? deleteDependency(to, toIssueId, issueId) : []),
  ];
}

/** The statements that remove what an issue has of another one, on which it may depend, and which is gone. */
const deleteDependency = (db: Database, issueId: number, goneId: number) => [
  deleteEntries(db, issueId, sql`told.sent_id is null and told.issue_id = ${goneId}`),
  db
    .delete(crossShardDependencies)
    .where(
      and(
        eq(crossShardDependencies.issueId, issueId),
        eq(crossShardDependencies.blockerId, goneId),
      ),
    ),
];

const deleteEntries = (db: Database, issueId: number, isOne: SQL) =>
  db.delete(timelineEntries).where(
    sql`${timelineEntries.issueId} = ${issueId} and ${timelineEntries.id} in (
      select told.entry_id from ${crossShardReferences} told where ${isOne}
    )`,
  );

/**
 * The statements that store what became of leased entries. What was deleted while it was sent is due at once.
 *
 * @param lost Those whose issue does not exist any more.
 */
const finish = (
  db: Database,
  entries: readonly CrossShardEntry[],
  lost: readonly CrossShardEntry[],
) =>
  [
    db
      .delete(crossShardEntries)
      .where(
        areStillLeased(entries.filter((each) => each.state === "gone" || lost.includes(each))),
      ),
    db
      .update(crossShardEntries)
      .set({
        attempts: 0,
        state: sql`iif(${crossShardEntries.state} = 'gone', 'gone', 'sent')`,
        dueAt: sql`iif(${crossShardEntries.state} = 'gone', 0, null)`,
      })
      .where(areStillLeased(entries)),
    ...lost
      .filter(({ kind }) => isOfDependency(kind))
      .flatMap(({ issueId, toIssueId }) => deleteDependency(db, issueId, toIssueId)),
  ] as const;

const postpone = ({ db, now }: Ctx, entries: readonly CrossShardEntry[]) =>
  db
    .update(crossShardEntries)
    .set({
      dueAt: sql`${now} + min(
        ${DELAY_MS_MAX},
        ${DELAY_MS} * (1 << min(2 * (${crossShardEntries.attempts} - 1), 20))
      )`,
    })
    .where(areStillLeased(entries));

/** The condition for those of the given entries that no other run has leased since. */
const areStillLeased = (entries: readonly CrossShardEntry[]): SQL => {
  const leased = JSON.stringify(entries.map(({ id, dueAt }) => ({ id, dueAt })));
  return sql`(${crossShardEntries.id}, ${crossShardEntries.dueAt}) in (
    select value ->> 'id', value ->> 'dueAt' from json_each(${leased})
  )`;
};
