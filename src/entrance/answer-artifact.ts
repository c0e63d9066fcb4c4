import type { Ctx } from "../context.ts";
import type { WorkflowArtifact, WorkflowArtifactPart } from "../db/schema/index.ts";
import { openStoredFile, zipArtifact } from "../domain/actions/artifacts/open-artifact.ts";
import type { ConditionalRequest } from "../lib/conditional-request.ts";
import { notFound } from "../lib/failure.ts";
import { fileDateOf } from "../lib/file-date.ts";
import { formatFilename } from "../lib/header-value.ts";
import { answerStoredFile } from "../lib/stored-file.ts";
import { streamOf } from "../lib/stream-of.ts";

const ZIP = "application/zip";

/**
 * Streams an artifact, or a range of it. One of files with paths is sent as a zip that is made
 * meanwhile, and has no ranges.
 *
 * @param parts Of its file, where they are known.
 * @throws Failure `not_found` for one that was deleted since it was too old.
 */
export async function answerArtifact(
  request: ConditionalRequest,
  ctx: Ctx,
  artifact: WorkflowArtifact,
  parts?: readonly WorkflowArtifactPart[],
): Promise<Response> {
  const { id, name, state, isArchive, mimeType, sizeBytes, sha256, updatedAt } = artifact;
  if (state === "expired" || artifact.expiresAt <= ctx.now) throw notFound();
  const isZip = !isArchive || mimeType === ZIP;
  const headers = {
    "Content-Type": isZip ? ZIP : mimeType,
    "Content-Disposition": `attachment; ${formatFilename(isZip ? `${name}.zip` : name)}`,
    "Cache-Control": "private, no-cache",
  };
  if (isArchive) {
    return answerStoredFile(request, {
      sizeBytes,
      tag: sha256,
      modifiedAt: fileDateOf(updatedAt, ctx.now),
      headers,
      open: (range) =>
        parts
          ? ctx.git.artifactFiles.open(id, parts, range)
          : openStoredFile(ctx, { artifactId: id, path: "" }, range),
    });
  }
  const body = request.method === "HEAD" ? null : streamOf(zipArtifact(ctx, artifact), ignore);
  return new Response(body, { headers });
}

const ignore = (): void => undefined;
