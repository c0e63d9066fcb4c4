import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { cronRuns } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import { forEach } from "../../lib/for-each.ts";
import { log, logBug } from "../../lib/log.ts";
import { settled } from "../../lib/settled.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { inDatabase } from "../shards/in-database.ts";
import { CRON_TASKS, type CronTask } from "./tasks.ts";

/** Databases in which a task runs concurrently. */
const DATABASES_AT_ONCE = 4;

/** Runs the tasks of a cron trigger. A failing task does not stop the others. */
export async function runScheduledTasks(ctx: Ctx, schedule: string): Promise<void> {
  const tasks = CRON_TASKS.filter((task) => task.schedule === schedule);
  const names = tasks.map(({ name }) => name);
  if (tasks.length === 0) log("cron:no-tasks", { schedule });
  await settled([noteRuns(ctx, names), ...tasks.map((task) => runWhere(ctx, task))]);
}

/**
 * Runs one task now, and waits for it.
 *
 * @throws Failure `not_found` for an unknown task.
 */
export async function runTask(ctx: Ctx, name: string): Promise<void> {
  const task = CRON_TASKS.find((each) => each.name === name);
  if (!task) throw notFound();
  await ctx.directory.batch([
    noteRuns(ctx, [name]),
    recordAudit(ctx, { kind: "cron.run", ownerId: 0, target: name }),
  ]);
  await runWhere(ctx, task);
}

/** Runs a task in the first database, or in each. A shard that fails does not keep the others from it. */
async function runWhere(ctx: Ctx, { name, isOfEach, run }: CronTask): Promise<void> {
  if (!isOfEach) {
    await run(ctx);
    return;
  }
  await forEach([0, ...ctx.openShards().keys()], DATABASES_AT_ONCE, async (shard) => {
    try {
      await run(inDatabase(ctx, shard));
    } catch (error) {
      if (shard !== 0) logBug(`${name} in shard ${shard}`, error);
      throw error;
    }
  });
}

/** The statement that notes that tasks start. */
const noteRuns = ({ directory: db, now }: Ctx, names: readonly string[]) =>
  insertSelect(
    db,
    cronRuns,
    { task: sql`value`, startedAt: now, runCount: 1 },
    sql`from json_each(${JSON.stringify(names)}) where true`,
  ).onConflictDoUpdate({
    target: cronRuns.task,
    set: { startedAt: now, runCount: sql`${cronRuns.runCount} + 1` },
  });
