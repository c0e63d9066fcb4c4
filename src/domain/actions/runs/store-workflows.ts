import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { workflows, workflowSchedules } from "../../../db/schema/index.ts";
import { parseCron } from "../workflow/parse-cron.ts";
import { readWorkflow } from "../workflow/read-workflow.ts";
import type { WorkflowFile } from "./workflow-files.ts";

/** A workflow file of a commit as it was read; undefined for one that can't be read. */
export interface ReadFile {
  readonly file: WorkflowFile;
  readonly read: Awaited<ReturnType<typeof readWorkflow>>;
}

/** Reads workflow files. */
export const readAll = (files: readonly WorkflowFile[]): Promise<ReadFile[]> =>
  Promise.all(
    files.map(async (file) => ({
      file,
      read:
        file.text === undefined
          ? { kind: "faulty", faults: [{ message: "the file is too large" }] }
          : await readWorkflow(file.path, file.text),
    })),
  );

/**
 * Stores the workflow files of a default branch, and when they start by the schedule; in one batch.
 * A file that is gone keeps whether it is switched off.
 */
export async function storeWorkflows(
  { db, now }: Ctx,
  repoId: number,
  files: readonly ReadFile[],
): Promise<void> {
  const rows = files.map(({ file: { file, path }, read }) => ({
    file,
    path,
    name: read.kind === "workflow" ? read.workflow.name : file,
    events: JSON.stringify(read.kind === "workflow" ? [...read.workflow.triggers.keys()] : []),
  }));
  const schedules = await listSchedules(files, now);
  const json = JSON.stringify(rows);
  const named = sql`(select value ->> 'file' from json_each(${json}))`;
  await db.batch([
    db
      .update(workflows)
      .set({ isPresent: false, updatedAt: now })
      .where(
        and(
          eq(workflows.repoId, repoId),
          eq(workflows.isPresent, true),
          sql`${workflows.file} not in ${named}`,
        ),
      ),
    db
      .insert(workflows)
      .select(
        sql`select ${repoId}, value ->> 'file', value ->> 'path', value ->> 'name',
          value ->> 'events', false, true, ${now}, ${now}
          from json_each(${json}) where true`,
      )
      .onConflictDoUpdate({
        target: [workflows.repoId, workflows.file],
        set: {
          path: sql`excluded.path`,
          name: sql`excluded.name`,
          events: sql`excluded.events`,
          isPresent: true,
          updatedAt: now,
        },
      }),
    db.delete(workflowSchedules).where(eq(workflowSchedules.repoId, repoId)),
    db.insert(workflowSchedules).select(
      sql`select ${repoId}, value ->> 'file', value ->> 'cron', value ->> 'nextAt'
          from json_each(${JSON.stringify(schedules)})`,
    ),
  ]);
}

async function listSchedules(files: readonly ReadFile[], now: number) {
  const schedules = new Map<string, { file: string; cron: string; nextAt: number }>();
  for (const { file, read } of files) {
    for (const cron of read.kind === "workflow" ? read.workflow.crons : []) {
      const nextAt = (await parseCron(cron)).next(now);
      if (nextAt !== undefined) {
        schedules.set(`${file.file} ${cron}`, { file: file.file, cron, nextAt });
      }
    }
  }
  return [...schedules.values()];
}
