import { and, asc, eq, isNotNull } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  type WorkflowArtifact,
  type WorkflowArtifactFile,
  workflowArtifactFiles,
  workflowArtifactParts,
} from "../../../db/schema/index.ts";
import type { ByteRange } from "../../../lib/byte-range.ts";
import { addBytes, streamZip } from "../../../lib/stream-zip.ts";
import { listArtifactFiles } from "./find-artifact.ts";

type FileOfArtifact = Pick<WorkflowArtifactFile, "artifactId" | "path">;

/**
 * Opens a range of a file as it is stored. Cost: one round trip, and a read for each part and each
 * 16 MiB of it.
 */
export async function openStoredFile(
  { db, git }: Ctx,
  { artifactId, path }: FileOfArtifact,
  range: ByteRange,
): Promise<ReadableStream<Uint8Array>> {
  const parts = await partsOfFile(db, { artifactId, path });
  return git.artifactFiles.open(artifactId, parts, range);
}

const partsOfFile = prepare((db, { artifactId, path }: Params<FileOfArtifact>) =>
  db
    .select(columnsOf(workflowArtifactParts, "p"))
    .from(workflowArtifactFiles)
    .innerJoin(workflowArtifactParts, eq(workflowArtifactParts.fileId, workflowArtifactFiles.id))
    .where(
      and(
        eq(workflowArtifactFiles.artifactId, artifactId),
        eq(workflowArtifactFiles.path, path),
        isNotNull(workflowArtifactParts.position),
      ),
    )
    .orderBy(asc(workflowArtifactParts.position)),
);

/** A zip of the files of an artifact, made while it is sent. They are not compressed. */
export async function* zipArtifact(ctx: Ctx, { id }: WorkflowArtifact): AsyncGenerator<Uint8Array> {
  const files = await listArtifactFiles(ctx, id);
  yield* streamZip(async (zip) => {
    for (const file of files) await addBytes(zip, file.path, unpack(ctx, file));
  });
}

/**
 * The bytes of a file, unpacked.
 *
 * SECURITY: no more than its uploader stated, who is bound by the maximum size of an artifact.
 */
async function* unpack(ctx: Ctx, file: WorkflowArtifactFile): AsyncGenerator<Uint8Array> {
  const stored = await openStoredFile(ctx, file, { start: 0, end: file.storedBytes });
  const bytes = file.isGzip ? unpackGzip(stored) : stored;
  let left = file.sizeBytes;
  for await (const piece of bytes) {
    left -= piece.length;
    if (left < 0) throw new Error("a file of an artifact is longer than stated");
    yield piece;
  }
}

/** Unpacks a file that is stored compressed, while it is read. */
export function unpackGzip(stored: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new DecompressionStream("gzip");
  return stored.pipeThrough({ readable, writable: writable as WritableStream<Uint8Array> });
}
