import { z } from "@hono/zod-openapi";

import type { Runner as RunnerRow } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";

const RunnerLabel = z
  .object({
    id: Int64.openapi({ description: "Its place in the list" }),
    name: z.string().openapi({ example: "ubuntu-latest" }),
    type: z.enum(["custom"]),
  })
  .openapi("ActionRunnerLabel");

export const Runner = z
  .object({
    id: Int64,
    name: z.string(),
    status: z.enum(["online", "offline"]),
    busy: z.boolean().openapi({ description: "Whether a job runs on it" }),
    ephemeral: z.boolean().openapi({ description: "Whether it runs one job, and ends with it" }),
    disabled: z.boolean().openapi({ description: "Whether it gets no jobs" }),
    labels: z.array(RunnerLabel),
  })
  .openapi("ActionRunner");

export const RunnerPage = z
  .object({ runners: z.array(Runner), total_count: Int64 })
  .openapi("ActionRunnersResponse");

/** Formats a runner that is in a state. */
export const toRunner = (
  runner: RunnerRow,
  state: "idle" | "active" | "offline",
): z.infer<typeof Runner> => ({
  id: runner.id,
  name: runner.name,
  status: state === "offline" ? "offline" : "online",
  busy: state === "active",
  ephemeral: runner.isEphemeral,
  disabled: runner.isDisabled,
  labels: runner.labels.map((name, id) => ({ id, name, type: "custom" })),
});
