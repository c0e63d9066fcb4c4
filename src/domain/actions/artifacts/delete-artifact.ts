import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { workflowArtifacts } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { type ListedArtifact } from "./find-artifact.ts";

/**
 * Deletes an artifact. The schedule deletes its files.
 *
 * @throws Failure `not_found` if another call has deleted it meanwhile.
 */
export async function deleteArtifact(
  ctx: Ctx,
  { row }: RepositoryContext,
  { artifact, run }: ListedArtifact,
): Promise<void> {
  const { deleted } = await batch(ctx.db, {
    deleted: ctx.db
      .delete(workflowArtifacts)
      .where(isArtifact(artifact))
      .returning({ id: workflowArtifacts.id }),
    audit: recordAuditIfChanged(ctx, {
      kind: "workflow_artifact.deleted",
      ownerId: row.ownerId,
      repoId: row.id,
      target: `${artifact.name} #${run.number}`,
      details: { runId: artifact.runId, artifactId: artifact.id },
    }),
  });
  if (deleted.length === 0) throw notFound();
}

/** Deletes an artifact of the run of a job, which asks for it. */
export async function deleteArtifactOfRun(
  { db }: Ctx,
  { artifact }: ListedArtifact,
): Promise<void> {
  await db.delete(workflowArtifacts).where(isArtifact(artifact));
}

const isArtifact = ({ id, runId }: ListedArtifact["artifact"]) =>
  and(eq(workflowArtifacts.id, id), eq(workflowArtifacts.runId, runId));
