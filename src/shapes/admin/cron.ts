import { z } from "@hono/zod-openapi";

import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";

export const Cron = z
  .object({
    name: z.string().openapi({ example: "cleanup_hook_task_table" }),
    schedule: z.string().openapi({ description: "A cron expression in UTC" }),
    next: Time.openapi({ description: "When the schedule runs it next" }),
    prev: Time.openapi({ description: "When it last started; 1970 if it never did" }),
    exec_times: Int64.openapi({ description: "How often it was started" }),
  })
  .openapi("Cron");

/** A task of the schedule with its runs. */
export interface CronEntry {
  readonly name: string;
  readonly schedule: string;
  /** In milliseconds. */
  readonly nextAt: number;
  readonly startedAt: number | undefined;
  readonly runCount: number;
}

/** Formats a task of the schedule. */
export const toCron = (entry: CronEntry): z.infer<typeof Cron> => ({
  name: entry.name,
  schedule: entry.schedule,
  next: formatTime(entry.nextAt),
  prev: entry.startedAt === undefined ? NEVER : formatTime(entry.startedAt),
  exec_times: entry.runCount,
});
