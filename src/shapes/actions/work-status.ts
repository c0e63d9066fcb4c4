import { z } from "@hono/zod-openapi";

import type { WorkState } from "../../db/schema/index.ts";

/** How the API calls the states: a final one is `completed`, with a conclusion. */
export const WORK_STATUSES = ["queued", "in_progress", "completed", "waiting"] as const;
export const WorkStatus = z.enum(WORK_STATUSES);
const WORK_CONCLUSIONS = ["success", "failure", "cancelled", "skipped"] as const;
export const WorkConclusion = z
  .enum([...WORK_CONCLUSIONS, ""])
  .openapi({ description: "Empty before it is completed" });

/** Whether nothing follows a state. */
export const isFinal = (state: WorkState): boolean =>
  (WORK_CONCLUSIONS as readonly string[]).includes(state);

const STATUSES = {
  blocked: "waiting",
  waiting: "queued",
  running: "in_progress",
} as const;

/** The status and the conclusion of a state. */
export function statusOf(state: WorkState): {
  status: (typeof WORK_STATUSES)[number];
  conclusion: z.infer<typeof WorkConclusion>;
} {
  return isFinal(state)
    ? { status: "completed", conclusion: state as (typeof WORK_CONCLUSIONS)[number] }
    : { status: STATUSES[state as keyof typeof STATUSES], conclusion: "" };
}

const OPEN: Readonly<Record<string, readonly WorkState[]>> = {
  queued: ["waiting"],
  in_progress: ["running"],
  waiting: ["blocked"],
  pending: ["blocked"],
  completed: WORK_CONCLUSIONS,
};

/** The states that a filter by status or conclusion selects; undefined for an unknown word. */
export const statesOf = (word: string): readonly WorkState[] | undefined =>
  (WORK_CONCLUSIONS as readonly string[]).includes(word)
    ? [word as WorkState]
    : Object.hasOwn(OPEN, word)
      ? OPEN[word]
      : undefined;
