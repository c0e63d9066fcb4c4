import { createHash } from "node:crypto";

import { and, asc, eq, isNull, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  type WorkflowArtifact,
  workflowArtifactFiles,
  type WorkflowArtifactPart,
  workflowArtifactParts,
  workflowArtifacts,
} from "../../../db/schema/index.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { conflict, forbidden, malformed, notFound, tooLarge } from "../../../lib/failure.ts";
import { readPieces } from "../../../lib/read-pieces.ts";
import type { AddressedArtifact } from "./artifact-address.ts";
import { ARTIFACT_PARTS_MAX } from "./artifact-limits.ts";
import type { ArtifactTask } from "./find-artifact-task.ts";
import { isTaskRunning } from "./is-task-running.ts";
import { receivePart, type SentPart } from "./receive-part.ts";

/** Size of the pieces in which an archive is hashed, in bytes. */
const HASH_PIECE_BYTES = 1024 * 1024;

/** The name of the part of an archive that was sent as a whole. Clients give parts longer ones. */
const WHOLE = "";

type Bytes = Pick<SentPart, "sizeBytes" | "body" | "md5">;

/** Stores a block of an archive, which a list will name. */
export async function receiveBlock(
  ctx: Ctx,
  addressed: AddressedArtifact,
  name: string,
  bytes: Bytes,
): Promise<void> {
  if (!/^[\w+/=-]{1,128}$/.test(name)) throw malformed("the id of the block is not base64");
  const { artifact, parts } = await findUpload(ctx, addressed, name);
  await receiveArchivePart(ctx, artifact, { name, ...bytes, formerUuid: parts[0]?.uuid });
}

/** Stores an archive that comes in one request. */
export async function receiveWhole(
  ctx: Ctx,
  addressed: AddressedArtifact,
  bytes: Bytes,
): Promise<void> {
  const { artifact, parts } = await findUpload(ctx, addressed, WHOLE);
  await receiveArchivePart(ctx, artifact, { name: WHOLE, ...bytes, formerUuid: parts[0]?.uuid });
  await putInOrder(ctx, artifact, [WHOLE]);
}

const receiveArchivePart = (
  ctx: Ctx,
  artifact: WorkflowArtifact,
  part: Omit<SentPart, "position">,
): Promise<void> =>
  receivePart(
    ctx,
    { artifact, path: "", isGzip: false, storedBytes: 0, unpackedBytes: 0 },
    { ...part, position: null },
  );

/**
 * Makes the file of an archive of blocks that were received, in their order. A later list replaces
 * it as long as the archive is not finished.
 *
 * @throws Failure `malformed` for a block that was not received, or stands twice in the list.
 */
export async function commitBlocks(
  ctx: Ctx,
  addressed: AddressedArtifact,
  names: readonly string[],
): Promise<void> {
  if (names.length > ARTIFACT_PARTS_MAX)
    throw tooLarge(`an artifact has at most ${ARTIFACT_PARTS_MAX} blocks`);
  const { artifact, parts } = await findUpload(ctx, addressed);
  const left = new Map(parts.map((part) => [part.name, part.sizeBytes]));
  let sizeBytes = 0;
  for (const name of names) {
    const partBytes = left.get(name);
    if (partBytes === undefined || name === WHOLE) {
      throw malformed("the list names a block that was not received, or one twice");
    }
    sizeBytes += partBytes;
    left.delete(name);
  }
  const { artifactMaxBytes } = ctx.config;
  if (sizeBytes > artifactMaxBytes) {
    throw tooLarge(`an artifact has at most ${artifactMaxBytes} bytes`);
  }
  await putInOrder(ctx, artifact, names);
}

async function putInOrder(
  { db, now }: Ctx,
  { id }: WorkflowArtifact,
  names: readonly string[],
): Promise<void> {
  const isArtifact = and(eq(workflowArtifacts.id, id), eq(workflowArtifacts.state, "pending"));
  const fileId = sql`(
    select ${workflowArtifactFiles.id} from ${workflowArtifactFiles}
    where ${workflowArtifactFiles.artifactId} in (
      select ${workflowArtifacts.id} from ${workflowArtifacts} where ${isArtifact}
    ) and ${workflowArtifactFiles.path} = ''
  )`;
  const isPart = sql`${workflowArtifactParts.fileId} = ${fileId}`;
  const sum = sql`(
    select coalesce(sum(${workflowArtifactParts.sizeBytes}), 0) from ${workflowArtifactParts}
    where ${isPart} and ${workflowArtifactParts.position} is not null
  )`;
  const { file } = await batch(db, {
    // An archive without blocks has no file yet.
    empty: insertSelect(
      db,
      workflowArtifactFiles,
      { artifactId: id, path: "" },
      sql`from ${workflowArtifacts} where ${isArtifact}`,
    ).onConflictDoNothing(),
    // Finishing notes by the count whether parts have changed meanwhile.
    counted: db
      .update(workflowArtifacts)
      .set({ receivedCount: sql`${workflowArtifacts.receivedCount} + 1`, updatedAt: now })
      .where(isArtifact),
    cleared: db
      .update(workflowArtifactParts)
      .set({ position: null })
      .where(sql`${isPart} and ${workflowArtifactParts.position} is not null`),
    placed: db
      .update(workflowArtifactParts)
      .set({ position: sql`listed.key` })
      .from(sql`json_each(${JSON.stringify(names)}) listed`)
      .where(sql`${isPart} and ${workflowArtifactParts.name} = listed.value`),
    file: db
      .update(workflowArtifactFiles)
      .set({ storedBytes: sum, sizeBytes: sum, isWhole: true })
      .where(sql`${workflowArtifactFiles.id} = ${fileId}`)
      .returning(),
  });
  if (file.length === 0) throw conflict("the artifact is finished");
}

/**
 * Finishes an archive: from here on it is listed, and does not change. Repeated with the same
 * values it has no second effect.
 *
 * Cost: two round trips, and each byte is read once where a hash is stated.
 *
 * @param stated Its size, and its SHA-256 in hex where the client has one.
 * @throws Failure `not_found` for a name that the task has not begun, `malformed` where the size or
 *   the hash differs, or nothing was uploaded; `conflict` if parts arrive meanwhile.
 */
export async function finishArchive(
  ctx: Ctx,
  task: ArtifactTask,
  name: string,
  stated: { readonly sizeBytes: number; readonly sha256: string | undefined },
): Promise<WorkflowArtifact> {
  const { db, now } = ctx;
  const { id: taskId, runId, runAttempt } = task;
  const { artifacts, parts } = await batch(db, archiveOfTask(db, { runId, runAttempt, name }));
  const [found] = artifacts;
  if (!found) throw notFound("the run has begun no artifact of this name");
  if (found.artifact.taskId !== taskId) throw forbidden("the artifact is another job's");
  const { artifact, file } = found;
  const { sizeBytes, sha256 } = stated;
  if (artifact.state !== "pending") {
    const isSame =
      artifact.sizeBytes === sizeBytes && (sha256 === undefined || artifact.sha256 === sha256);
    if (isSame && artifact.state === "ready") return artifact;
    throw conflict("the artifact is finished");
  }
  if (!file?.isWhole) throw malformed("the artifact was not uploaded");
  if (file.storedBytes !== sizeBytes) {
    throw malformed(`the artifact has ${file.storedBytes} bytes, not ${sizeBytes}`);
  }
  const listed = parts.filter(({ position }) => position !== null);
  const actual = await hashParts(ctx, artifact, listed, sizeBytes);
  if (sha256 !== undefined && sha256 !== actual) {
    throw malformed("the artifact has another SHA-256 than stated");
  }
  const isUnchanged = and(
    eq(workflowArtifacts.id, artifact.id),
    eq(workflowArtifacts.state, "pending"),
    eq(workflowArtifacts.receivedCount, artifact.receivedCount),
  );
  const { finished, unused } = await batch(db, {
    finished: db
      .update(workflowArtifacts)
      .set({ state: "ready", sizeBytes, sha256: actual, updatedAt: now })
      .where(isUnchanged)
      .returning(),
    unused: db
      .delete(workflowArtifactParts)
      .where(
        and(
          eq(workflowArtifactParts.fileId, file.id),
          isNull(workflowArtifactParts.position),
          sql`changes() > 0`,
        ),
      )
      .returning({ uuid: workflowArtifactParts.uuid }),
  });
  const [ready] = finished;
  if (!ready) throw conflict("parts of the artifact arrive while it is finished");
  const uuids = unused.map(({ uuid }) => uuid);
  for (let at = 0; at < uuids.length; at += 1000) {
    ctx.defer(ctx.git.artifactFiles.delete(artifact.id, uuids.slice(at, at + 1000)));
  }
  return ready;
}

/** The SHA-256 of a file in hex. */
async function hashParts(
  { git }: Ctx,
  { id }: WorkflowArtifact,
  parts: readonly WorkflowArtifactPart[],
  sizeBytes: number,
): Promise<string> {
  const hash = createHash("sha256");
  const bytes = await git.artifactFiles.open(id, parts, { start: 0, end: sizeBytes });
  for await (const piece of readPieces(bytes, HASH_PIECE_BYTES)) hash.update(piece);
  return hash.digest("hex");
}

/** An archive that is being uploaded. */
interface Upload {
  readonly artifact: WorkflowArtifact;
  /** Its parts so far, or the one of a name. */
  readonly parts: readonly WorkflowArtifactPart[];
}

/**
 * Finds what an address leads to, in one round trip.
 *
 * @throws Failure `forbidden` if the task has ended, `conflict` if the archive is finished or gone.
 */
async function findUpload(
  { db }: Ctx,
  { artifactId, taskId }: AddressedArtifact,
  partName?: string,
): Promise<Upload> {
  const { artifacts, parts } = await batch(
    db,
    archiveById(db, { artifactId, taskId, ...(partName !== undefined && { partName }) }),
  );
  const [artifact] = artifacts;
  if (!artifact) throw forbidden("the task of the address has ended, or the artifact is gone");
  if (artifact.state !== "pending" || !artifact.isArchive)
    throw conflict("the artifact is finished");
  return { artifact, parts };
}

interface ArchiveById extends AddressedArtifact {
  readonly partName?: string;
}

const archiveById = prepareAll((db, p: Params<ArchiveById>) => ({
  artifacts: db
    .select()
    .from(workflowArtifacts)
    .where(
      and(
        eq(workflowArtifacts.id, p.artifactId),
        eq(workflowArtifacts.taskId, p.taskId),
        isTaskRunning(p.taskId),
      ),
    ),
  parts: db
    .select(columnsOf(workflowArtifactParts, "p"))
    .from(workflowArtifactFiles)
    .innerJoin(workflowArtifactParts, eq(workflowArtifactParts.fileId, workflowArtifactFiles.id))
    .where(
      and(
        eq(workflowArtifactFiles.artifactId, p.artifactId),
        eq(workflowArtifactFiles.path, ""),
        p.partName === undefined ? undefined : eq(workflowArtifactParts.name, p.partName),
      ),
    ),
}));

interface NamedArchive {
  readonly runId: number;
  readonly runAttempt: number;
  readonly name: string;
}

const archiveOfTask = prepareAll((db, p: Params<NamedArchive>) => {
  const isNamed = and(
    eq(workflowArtifacts.runId, p.runId),
    eq(workflowArtifacts.runAttempt, p.runAttempt),
    eq(workflowArtifacts.name, p.name),
    eq(workflowArtifacts.isArchive, true),
  );
  const isFile = and(
    eq(workflowArtifactFiles.artifactId, workflowArtifacts.id),
    eq(workflowArtifactFiles.path, ""),
  );
  return {
    artifacts: db
      .select({
        artifact: columnsOf(workflowArtifacts, "a"),
        file: columnsOf(workflowArtifactFiles, "f"),
      })
      .from(workflowArtifacts)
      .leftJoin(workflowArtifactFiles, isFile)
      .where(isNamed),
    parts: db
      .select(columnsOf(workflowArtifactParts, "p"))
      .from(workflowArtifacts)
      .innerJoin(workflowArtifactFiles, isFile)
      .innerJoin(workflowArtifactParts, eq(workflowArtifactParts.fileId, workflowArtifactFiles.id))
      .where(isNamed)
      .orderBy(asc(workflowArtifactParts.position)),
  };
});
