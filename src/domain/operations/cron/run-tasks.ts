import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { cronRuns } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { log } from "../../../lib/log.ts";
import { settled } from "../../../lib/settled.ts";
import { recordAudit } from "../../people/audit/record-audit.ts";
import { CRON_TASKS } from "./tasks.ts";

/** Runs the tasks of a cron trigger. A failing task does not stop the others. */
export async function runScheduledTasks(ctx: Ctx, schedule: string): Promise<void> {
  const tasks = CRON_TASKS.filter((task) => task.schedule === schedule);
  const names = tasks.map(({ name }) => name);
  if (tasks.length === 0) log("cron:no-tasks", { schedule });
  await settled([noteRuns(ctx, names), ...tasks.map(({ run }) => run(ctx))]);
}

/**
 * Runs one task now, and waits for it.
 *
 * @throws Failure `not_found` for an unknown task.
 */
export async function runTask(ctx: Ctx, name: string): Promise<void> {
  const task = CRON_TASKS.find((each) => each.name === name);
  if (!task) throw notFound();
  await ctx.db.batch([
    noteRuns(ctx, [name]),
    recordAudit(ctx, { kind: "cron.run", ownerId: 0, target: name }),
  ]);
  await task.run(ctx);
}

/** The statement that notes that tasks start. */
const noteRuns = ({ db, now }: Ctx, names: readonly string[]) =>
  insertSelect(
    db,
    cronRuns,
    { task: sql`value`, startedAt: now, runCount: 1 },
    sql`from json_each(${JSON.stringify(names)}) where true`,
  ).onConflictDoUpdate({
    target: cronRuns.task,
    set: { startedAt: now, runCount: sql`${cronRuns.runCount} + 1` },
  });
