import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { workflowArtifacts } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { type ListedArtifact } from "./find-artifact.ts";

/** Deletes an artifact. The schedule deletes its files. */
export async function deleteArtifact(
  ctx: Ctx,
  { row }: RepositoryContext,
  { artifact, run }: ListedArtifact,
): Promise<void> {
  await batch(ctx.db, {
    deleted: ctx.db.delete(workflowArtifacts).where(isArtifact(artifact)),
    audit: recordAuditIfChanged(ctx, {
      kind: "workflow_artifact.deleted",
      ownerId: row.ownerId,
      repoId: row.id,
      target: `${artifact.name} #${run.number}`,
      details: { runId: artifact.runId, artifactId: artifact.id },
    }),
  });
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
