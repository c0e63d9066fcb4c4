import { z } from "@hono/zod-openapi";

import { formatDuration } from "../../lib/duration.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";

export const StopWatch = z
  .object({
    created: Time,
    seconds: Int64.openapi({ description: "For how long it runs" }),
    duration: z.string().openapi({ description: "The same in words", example: "1 hour 5 minutes" }),
    issue_index: Int64,
    issue_title: z.string(),
    repo_owner_name: z.string(),
    repo_name: z.string(),
  })
  .openapi("StopWatch");
export type StopWatch = z.infer<typeof StopWatch>;

/** A running stopwatch as queries return it. */
export interface StopWatchContext {
  /** In milliseconds. */
  readonly startedAt: number;
  readonly number: number;
  readonly title: string;
  /** The names of the repository and its owner. */
  readonly repo: string;
  readonly owner: string;
}

/** @param now The time of the request, in milliseconds. */
export function toStopWatch(stopwatch: StopWatchContext, now: number): StopWatch {
  const { startedAt } = stopwatch;
  const seconds = Math.max(0, Math.floor((now - startedAt) / 1000));
  return {
    created: formatTime(startedAt),
    seconds,
    duration: formatDuration(seconds),
    issue_index: stopwatch.number,
    issue_title: stopwatch.title,
    repo_owner_name: stopwatch.owner,
    repo_name: stopwatch.repo,
  };
}
