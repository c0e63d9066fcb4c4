import { inArray } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { cronRuns } from "../../../db/schema/index.ts";
import type { CronEntry } from "../../../shapes/admin/cron.ts";
import type { Listed, Slice } from "../../slice.ts";
import { nextTime } from "./next-time.ts";
import { CRON_TASKS } from "./tasks.ts";

/** Lists the tasks of the schedule with their runs, by manual request too. */
export async function listTasks(
  { db, now }: Ctx,
  { size, offset }: Slice,
): Promise<Listed<CronEntry>> {
  const names = CRON_TASKS.map(({ name }) => name);
  const runs = await runsOf(db, { names });
  const runOf = new Map(runs.map((run) => [run.task, run]));
  const items = CRON_TASKS.slice(offset, offset + size).map(({ name, schedule }) => ({
    name,
    schedule,
    nextAt: nextTime(schedule, now),
    startedAt: runOf.get(name)?.startedAt,
    runCount: runOf.get(name)?.runCount ?? 0,
  }));
  return { items, total: CRON_TASKS.length };
}

const runsOf = prepare((db, p: Params<{ names: readonly string[] }>) =>
  db.select().from(cronRuns).where(inArray(cronRuns.task, p.names)),
);
