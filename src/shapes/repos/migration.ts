import { z } from "@hono/zod-openapi";

import {
  FORGE_SERVICES,
  IMPORT_STAGES,
  IMPORT_STATES,
  type Import,
  PROJECT_PARTS,
} from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";

const Stage = z
  .object({
    name: z.enum(IMPORT_STAGES),
    done: Int64.openapi({ description: "How many items were taken" }),
    total: Int64.nullable().openapi({
      description: "How many there are, if the other side reports it",
    }),
  })
  .openapi("MigrationStage");

export const Migration = z
  .object({
    state: z.enum(IMPORT_STATES),
    stage: z.enum(IMPORT_STAGES).openapi({ description: "What it does, or goes on with" }),
    service: z.enum([...FORGE_SERVICES, "bundle"]),
    clone_addr: z
      .string()
      .openapi({ description: "The address, without credentials; empty for an export" }),
    parts: z.array(z.enum(PROJECT_PARTS)).openapi({ description: "What is taken besides git" }),
    stages: z.array(Stage).openapi({ description: "Those that have begun, in their order" }),
    notes: z.array(z.string()).openapi({ description: "What was left out, and why; at most 100" }),
    last_error: z.string().openapi({ description: "Why it waits or has failed; else empty" }),
    next_attempt_at: TimeOrNull,
    created_at: Time,
    finished_at: TimeOrNull,
  })
  .openapi("Migration");

/** Formats an import. SECURITY: for administrators of the repository; it has no credentials. */
export const toMigration = (row: Import): z.infer<typeof Migration> => ({
  state: row.state,
  stage: row.stage,
  service: row.service,
  clone_addr: row.address,
  parts: row.options.parts,
  stages: IMPORT_STAGES.flatMap((name) => {
    const progress = row.progress[name];
    return progress ? [{ name, done: progress.done, total: progress.total ?? null }] : [];
  }),
  notes: row.notes,
  last_error: row.lastError,
  next_attempt_at: formatTimeOrNull(row.dueAt),
  created_at: formatTime(row.createdAt),
  finished_at: formatTimeOrNull(row.finishedAt),
});
