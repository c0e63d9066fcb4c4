import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type WorkflowArtifact, workflowArtifacts } from "../../../db/schema/index.ts";
import { conflict, Failure, malformed } from "../../../lib/failure.ts";
import { ARTIFACTS_MAX } from "./artifact-limits.ts";
import { requireArtifactName } from "./artifact-names.ts";
import { isTaskRunning } from "./is-task-running.ts";
import type { ArtifactTask } from "./find-artifact-task.ts";

/** An artifact as a job asks for it. */
export interface NewArtifact {
  readonly name: string;
  /** Whether it is one file; otherwise files with paths. */
  readonly isArchive: boolean;
  readonly mimeType: string;
  /** In milliseconds; undefined for as long as artifacts are kept, which is also the maximum. */
  readonly expiresAt: number | undefined;
}

/**
 * Begins an artifact of a run. Repeated by the same task it has no second effect. One that a task
 * which has ended left unfinished is replaced.
 *
 * Files with paths may be added to an artifact by all jobs of its run.
 *
 * @throws Failure `malformed` for a bad name or time, `conflict` for a name that the attempt of the
 *   run has already, `too_large` beyond the number of artifacts.
 */
export async function createArtifact(
  { db, config, now }: Ctx,
  task: ArtifactTask,
  { name, isArchive, mimeType, expiresAt }: NewArtifact,
): Promise<WorkflowArtifact> {
  requireArtifactName(name);
  if (expiresAt !== undefined && !(expiresAt > now)) {
    throw malformed("an artifact expires in the future");
  }
  const latest = now + config.artifactRetentionMs;
  const { runId, repoId, runAttempt } = task;
  const isOfAttempt = and(
    eq(workflowArtifacts.runId, runId),
    eq(workflowArtifacts.runAttempt, runAttempt),
  );
  const isNamed = and(isOfAttempt, eq(workflowArtifacts.name, name));
  const row = {
    runId,
    repoId,
    runAttempt,
    taskId: task.id,
    name,
    isArchive,
    mimeType: toMimeType(mimeType),
    createdAt: now,
    updatedAt: now,
    expiresAt: Math.min(expiresAt ?? latest, latest),
  };
  const { created } = await batch(db, {
    abandoned: db
      .delete(workflowArtifacts)
      .where(
        and(
          isNamed,
          eq(workflowArtifacts.state, "pending"),
          sql`not ${isTaskRunning(workflowArtifacts.taskId)}`,
        ),
      ),
    created: insertSelect(
      db,
      workflowArtifacts,
      row,
      sql`where (select count(*) from ${workflowArtifacts} where ${isOfAttempt}) < ${ARTIFACTS_MAX}
        or exists (select 1 from ${workflowArtifacts} where ${isNamed})`,
    )
      .onConflictDoUpdate({
        target: [workflowArtifacts.runId, workflowArtifacts.runAttempt, workflowArtifacts.name],
        set: { updatedAt: now, expiresAt: row.expiresAt, mimeType: row.mimeType },
        setWhere: allOf(
          eq(workflowArtifacts.isArchive, isArchive),
          isArchive ? eq(workflowArtifacts.state, "pending") : undefined,
          isArchive ? eq(workflowArtifacts.taskId, task.id) : undefined,
        ),
      })
      .returning(),
  });
  const [artifact] = created;
  if (artifact) return artifact;
  const [other] = await db
    .select({ id: workflowArtifacts.id })
    .from(workflowArtifacts)
    .where(isNamed);
  if (other) throw conflict("an artifact with this name already exists in this attempt of the run");
  throw new Failure("too_large", `an attempt of a run has at most ${ARTIFACTS_MAX} artifacts`);
}

/** A media type without its parameters; what is none becomes that of any bytes. */
function toMimeType(text: string): string {
  const type = (text.split(";")[0] ?? "").trim().toLowerCase();
  return /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/.test(type) ? type : "application/octet-stream";
}
