import { and, eq, gt, inArray, isNotNull, lte, min, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Database, isViolation, onlyWhile } from "../../db/db.ts";
import { copiedChanges, shardCopies, shards, shardTasks } from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";
import { settled } from "../../lib/settled.ts";
import { WorkBudget } from "../../lib/work-budget.ts";
import { copyChanges } from "../shards/copy-changes.ts";
import type { ShardTask } from "../shards/shard-task.ts";
import { taskStep } from "./task-step.ts";

/** Duration of a lease, in milliseconds. No step starts after `WORK_MS`. */
export const SHARD_TASK_LEASE_MS = 120 * 1000;
/** The delay after the first failure and the longest delay, in milliseconds; it quadruples with each failure. */
const DELAY_MS = 30 * 1000;
const DELAY_MS_MAX = 60 * 60 * 1000;

/** Work budget of one call. */
const WORK_MS = 20 * 1000;
const STATEMENTS_MAX = 800;
/** Shards that work concurrently, tasks that one leases at once, and steps of a task before its progress is stored. */
const SHARDS_AT_ONCE = 4;
const TASKS_AT_ONCE = 20;
const STEPS_AT_ONCE = 10;
/** Steps of copying before a shard's tasks wait for the next run. */
const COPY_STEPS_MAX = 20;
/** Statements of a step of copying and of a task, about. */
const COPY_STATEMENTS = 10;
const STEP_STATEMENTS = 10;

/** A shard with its database. */
interface OpenedShard {
  readonly id: number;
  readonly db: Database;
}

/** A leased task. */
type LeasedTask = typeof shardTasks.$inferSelect;

/**
 * Does what shards have to do after changes of the first database. Safe to call at any time and concurrently: a lease gives each task to
 * one call at a time, each step may be repeated, and what a task leaves is stored.
 *
 * A task is done on copies that are exactly the first database of one moment after its change: copying first reaches the end
 * of the log, and each step fails if another call has copied more since, which may be half of a change.
 *
 * A task that fails is repeated later, and a shard that fails does not keep the others from theirs.
 *
 * Cost: one round trip without due tasks, none without shards.
 */
export async function runShardTasks(ctx: Ctx): Promise<void> {
  const { directory } = ctx;
  const databases = ctx.openShards();
  if (databases.size === 0) return;
  const budget = new WorkBudget(ctx.now, { ms: WORK_MS, statements: STATEMENTS_MAX });
  const due = (await selectShardsWithTasks(directory, budget.now)).flatMap(({ id }) => {
    const db = databases.get(id);
    return db ? [{ id, db }] : [];
  });
  const work = async (): Promise<void> => {
    while (!budget.isExhausted) {
      const shard = due.shift();
      if (!shard) return;
      try {
        await runTasksOf(directory, shard, budget);
      } catch (error) {
        logBug(`shard ${shard.id}`, error);
      }
    }
  };
  await settled(Array.from({ length: SHARDS_AT_ONCE }, work));
  if (budget.isExhausted) ctx.eventQueues.noteShardTasks();
  await ctx.eventQueues.dispatchRecorded();
}

/** Those that wait longest first. A shard that is new has no copies that could be asked yet. */
const selectShardsWithTasks = (directory: Database, now: number) =>
  directory
    .select({ id: shards.id })
    .from(shards)
    .innerJoin(shardTasks, eq(shardTasks.shardId, shards.id))
    .where(and(lte(shardTasks.dueAt, now), isNotNull(shards.seededAt)))
    .groupBy(shards.id)
    .orderBy(min(shardTasks.dueAt));

async function runTasksOf(
  directory: Database,
  shard: OpenedShard,
  budget: WorkBudget,
): Promise<void> {
  while (!budget.isExhausted) {
    const changeId = await copyToEnd(directory, shard, budget);
    if (changeId === undefined) return;
    budget.consume(2);
    const [behind, leased] = await directory.batch(
      leaseTasks(directory, shard.id, changeId, budget.now),
    );
    if (behind.length === 0 && leased.length === 0) return;
    const left = await runLeased(directory, shard, { leased, changeId, budget });
    if (left.length > 0) await release(directory, left, budget);
  }
}

/**
 * Copies until the log has nothing for the shard.
 *
 * @returns The last change that the shard has; undefined if there is too much to copy.
 */
async function copyToEnd(
  directory: Database,
  { db }: OpenedShard,
  budget: WorkBudget,
): Promise<number | undefined> {
  for (let step = 0; step < COPY_STEPS_MAX && !budget.isExhausted; step++) {
    budget.consume(COPY_STATEMENTS);
    if (!(await copyChanges(directory, db))) continue;
    const [state] = await db.select().from(shardCopies).limit(1);
    return state?.changeId;
  }
  return undefined;
}

/** The statements that select a change which the shard does not have, and that lease due tasks if there is none. */
function leaseTasks(directory: Database, shardId: number, changeId: number, now: number) {
  const isAfter = and(inArray(copiedChanges.shardId, [0, shardId]), gt(copiedChanges.id, changeId));
  const due = sql`(
    select id from ${shardTasks}
    where shard_id = ${shardId} and due_at <= ${now}
      and not exists (select 1 from ${copiedChanges} where ${isAfter})
    order by due_at, id
    limit ${TASKS_AT_ONCE}
  )`;
  return [
    directory.select({ id: copiedChanges.id }).from(copiedChanges).where(isAfter).limit(1),
    directory
      .update(shardTasks)
      .set({ dueAt: now + SHARD_TASK_LEASE_MS, attempts: sql`${shardTasks.attempts} + 1` })
      .where(sql`${shardTasks.id} in ${due}`)
      .returning(),
  ] as const;
}

/**
 * Does leased tasks.
 *
 * @returns Those that were not begun, or whose copies are of another moment by now.
 */
async function runLeased(
  directory: Database,
  { db }: OpenedShard,
  { leased, ...on }: { leased: LeasedTask[]; changeId: number; budget: WorkBudget },
): Promise<LeasedTask[]> {
  const { budget } = on;
  for (const [at, row] of leased.entries()) {
    if (budget.isExhausted) return leased.slice(at);
    const outcome = await runSteps(db, row, on);
    if (outcome === "stale") return leased.slice(at);
    budget.consume(1);
    await (outcome ? store(directory, row, outcome) : remove(directory, row));
  }
  return [];
}

/** What a task leaves, and when it goes on. */
interface Rest {
  readonly task: object;
  readonly dueAt: number;
  readonly attempts: number;
}

/** @returns What is left; undefined if the task is done; "stale" if the copies have changed before its first step. */
async function runSteps(
  shard: Database,
  row: LeasedTask,
  { changeId, budget }: { changeId: number; budget: WorkBudget },
): Promise<Rest | "stale" | undefined> {
  let task: ShardTask | undefined = row.task as ShardTask;
  let steps = 0;
  try {
    while (task && (steps === 0 || (steps < STEPS_AT_ONCE && !budget.isExhausted))) {
      budget.consume(STEP_STATEMENTS);
      const { statements, next } = taskStep(shard, task);
      const [, ...results] = await shard.batch([hasStill(shard, changeId), ...statements]);
      task = next(results);
      steps += 1;
    }
  } catch (error) {
    if (!isViolation(error, "NOT NULL", "shard_copies.change_id")) {
      logBug(`shard-task-${row.id}`, error);
      const delayMs = Math.min(DELAY_MS * 4 ** (row.attempts - 1), DELAY_MS_MAX);
      return { task: task ?? row.task, dueAt: budget.now + delayMs, attempts: row.attempts };
    }
    if (steps === 0) return "stale";
  }
  return task && { task, dueAt: budget.now, attempts: 0 };
}

/** The statement with which a batch of a shard fails if its copies have changed. */
const hasStill = (shard: Database, changeId: number) =>
  shard
    .update(shardCopies)
    .set({ changeId: onlyWhile(eq(shardCopies.changeId, changeId), changeId) });

const store = (directory: Database, { id }: LeasedTask, rest: Rest) =>
  directory.update(shardTasks).set(rest).where(eq(shardTasks.id, id));

const remove = (directory: Database, { id }: LeasedTask) =>
  directory.delete(shardTasks).where(eq(shardTasks.id, id));

/** Gives leased tasks back, as if they had not been tried. */
async function release(
  directory: Database,
  rows: readonly LeasedTask[],
  budget: WorkBudget,
): Promise<void> {
  budget.consume(1);
  const ids = JSON.stringify(rows.map(({ id }) => id));
  await directory
    .update(shardTasks)
    .set({ dueAt: budget.now, attempts: sql`${shardTasks.attempts} - 1` })
    .where(sql`${shardTasks.id} in (select value from json_each(${ids}))`);
}
