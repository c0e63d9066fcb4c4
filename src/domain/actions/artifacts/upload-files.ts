import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  type WorkflowArtifact,
  workflowArtifactFiles,
  workflowArtifactParts,
  workflowArtifacts,
} from "../../../db/schema/index.ts";
import { malformed, notFound, tooLarge } from "../../../lib/failure.ts";
import { readItemPath } from "./artifact-names.ts";
import type { ArtifactTask } from "./find-artifact-task.ts";
import { receivePart, type SentPart } from "./receive-part.ts";

/** A part of a file of an artifact as clients of the third version send it. */
export interface SentFilePart extends Pick<SentPart, "sizeBytes" | "body" | "md5"> {
  /** Begins with the name of the artifact. */
  readonly itemPath: string;
  readonly isGzip: boolean;
  /** Where the part begins in the file as it is stored, and the size of that. */
  readonly start: number;
  readonly storedBytes: number;
  /** The size of the file unpacked. */
  readonly unpackedBytes: number;
}

/**
 * Stores a part of a file. The file is there as soon as all its parts are, in any order.
 *
 * @throws Failure as `receivePart`, and `malformed` for a path that leaves the artifact.
 */
export async function receiveFilePart(
  ctx: Ctx,
  task: ArtifactTask,
  artifactId: number,
  { itemPath, start, storedBytes, unpackedBytes, isGzip, ...bytes }: SentFilePart,
): Promise<void> {
  const { artifactMaxBytes } = ctx.config;
  if (Math.max(storedBytes, unpackedBytes) > artifactMaxBytes) {
    throw tooLarge(`an artifact has at most ${artifactMaxBytes} bytes`);
  }
  if (start + bytes.sizeBytes > storedBytes) throw malformed("a part lies outside of its file");
  const { runId, runAttempt } = task;
  const separator = itemPath.search(/[/\\]/);
  const path = readItemPath(itemPath.slice(0, Math.max(0, separator)), itemPath);
  const [found] = await artifactWithPart(ctx.db, {
    runId,
    runAttempt,
    artifactId,
    path,
    partName: String(start),
  });
  if (!found) throw notFound("the run has no such artifact");
  readItemPath(found.artifact.name, itemPath);
  await receivePart(
    ctx,
    { artifact: found.artifact, path, isGzip, storedBytes, unpackedBytes },
    { ...bytes, name: String(start), position: start, formerUuid: found.part?.uuid },
  );
}

interface NamedPart {
  readonly runId: number;
  readonly runAttempt: number;
  readonly artifactId: number;
  readonly path: string;
  readonly partName: string;
}

const artifactWithPart = prepare((db, p: Params<NamedPart>) =>
  db
    .select({ artifact: workflowArtifacts, part: workflowArtifactParts })
    .from(workflowArtifacts)
    .leftJoin(
      workflowArtifactFiles,
      and(
        eq(workflowArtifactFiles.artifactId, workflowArtifacts.id),
        eq(workflowArtifactFiles.path, p.path),
      ),
    )
    .leftJoin(
      workflowArtifactParts,
      and(
        eq(workflowArtifactParts.fileId, workflowArtifactFiles.id),
        eq(workflowArtifactParts.name, p.partName),
      ),
    )
    .where(
      and(
        eq(workflowArtifacts.id, p.artifactId),
        eq(workflowArtifacts.runId, p.runId),
        eq(workflowArtifacts.runAttempt, p.runAttempt),
        eq(workflowArtifacts.isArchive, false),
      ),
    ),
);

/**
 * Lists an artifact of files from here on, with its size. May be repeated: other jobs add files.
 *
 * @throws Failure `not_found`.
 */
export async function confirmFiles(
  { db, now }: Ctx,
  { runId, runAttempt }: ArtifactTask,
  name: string,
): Promise<WorkflowArtifact> {
  const [confirmed] = await db
    .update(workflowArtifacts)
    .set({
      state: "ready",
      sizeBytes: sql`(
        select coalesce(sum(f.size_bytes), 0) from ${workflowArtifactFiles} f
        where f.artifact_id = ${workflowArtifacts.id} and f.is_whole = 1
      )`,
      updatedAt: now,
    })
    .where(
      and(
        eq(workflowArtifacts.runId, runId),
        eq(workflowArtifacts.runAttempt, runAttempt),
        eq(workflowArtifacts.name, name),
        eq(workflowArtifacts.isArchive, false),
        sql`${workflowArtifacts.state} <> 'expired'`,
      ),
    )
    .returning();
  if (!confirmed) throw notFound("the run has no such artifact");
  return confirmed;
}
