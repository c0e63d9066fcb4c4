import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packageLooseFiles, type PackageType } from "../../../db/schema/index.ts";
import { Failure, forbidden } from "../../../lib/failure.ts";
import { log } from "../../../lib/log.ts";
import type { DigestName } from "../../../storage/digest-name.ts";
import type { StoredBytes } from "../../../storage/hashed-files.ts";

/** Maximum duration of an upload, in milliseconds. */
export const PACKAGE_UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

/**
 * Bytes in the object storage, with their digests, that no package refers to yet. Blobs of images
 * may lack all digests but SHA-256, which are "" then.
 */
export interface ReceivedBlob extends StoredBytes<DigestName> {
  readonly uuid: string;
}

/** Stores and hashes the pieces of a file. */
type Receive = (uuid: string, pieces: AsyncIterable<Uint8Array>) => Promise<ReceivedBlob>;

/**
 * Streams the content of a file into the object storage, and hashes it.
 *
 * A row in `package_loose_files` is inserted before the first byte is written; the batch of
 * `publishVersion` deletes it. If a Worker dies in between, a job deletes the bytes. A caller that
 * does not publish them calls `dropBlobs`.
 *
 * @param receive With all digests by default.
 * @throws Failure `forbidden` beyond the limit of the type.
 */
export async function receiveBlob(
  ctx: Ctx,
  type: PackageType,
  pieces: AsyncIterable<Uint8Array>,
  receive?: Receive,
): Promise<ReceivedBlob> {
  const note = noteOfNew(ctx);
  await insertNote(ctx.db, note);
  return receiveNoted(ctx, type, note, pieces, receive);
}

/** Stores bytes that are in memory, as `receiveBlob` does. */
export const storeBlob = (ctx: Ctx, type: PackageType, bytes: Uint8Array): Promise<ReceivedBlob> =>
  receiveBlob(ctx, type, piecesOf(bytes));

/** The same, where the caller has inserted the note. */
export const storeNoted = (
  ctx: Ctx,
  type: PackageType,
  note: BlobNote,
  bytes: Uint8Array,
): Promise<ReceivedBlob> => receiveNoted(ctx, type, note, piecesOf(bytes));

/** A row of `package_loose_files`. */
export type BlobNote = typeof packageLooseFiles.$inferSelect;

/** The note of a file that is to be stored. */
export const noteOfNew = ({ now }: Ctx): BlobNote => ({
  uuid: crypto.randomUUID(),
  expiresAt: now + PACKAGE_UPLOAD_LIFE_MS,
});

const insertNote = prepare((db, note: Params<BlobNote>) =>
  db.insert(packageLooseFiles).values(note),
);

async function receiveNoted(
  ctx: Ctx,
  type: PackageType,
  { uuid }: BlobNote,
  pieces: AsyncIterable<Uint8Array>,
  receive: Receive = async (name, bounded) => ({
    uuid: name,
    ...(await ctx.git.packageFiles.receive(name, bounded)),
  }),
): Promise<ReceivedBlob> {
  try {
    return await receive(uuid, boundPieces(pieces, ctx.config.packages.fileBytesMax[type]));
  } catch (error) {
    dropBlobs(ctx, [uuid]);
    throw error;
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/**
 * Uses a blob that was received, and drops it unless `use` publishes it.
 *
 * @param use A failure of kind `Failure` means that nothing was published. Of any other error it is
 * unknown, so the bytes are kept until their row expires.
 */
export async function withBlobs<T>(
  ctx: Ctx,
  blobs: readonly ReceivedBlob[],
  use: () => Promise<T>,
): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof Failure) {
      dropBlobs(
        ctx,
        blobs.map(({ uuid }) => uuid),
      );
    }
    throw error;
  }
}

/** The condition that the bytes were noted and the note has not expired. */
export function isBlobNoted(uuid: string | SQL): SQL {
  const isNote = and(
    eq(packageLooseFiles.uuid, uuid),
    // By the database's clock when the statement runs.
    sql`${packageLooseFiles.expiresAt} > unixepoch() * 1000`,
  );
  return sql`exists (
    select 1
    from ${packageLooseFiles}
    where ${isNote}
  )`;
}

/**
 * Deletes bytes that no blob refers to, and their rows, after the response. On failure, a job
 * deletes them.
 *
 * SECURITY: call this only if the bytes certainly were not published.
 */
export function dropBlobs(ctx: Ctx, uuids: readonly string[]): void {
  if (uuids.length === 0) return;
  const drop = async (): Promise<void> => {
    await ctx.git.packageFiles.delete(uuids);
    const list = JSON.stringify(uuids);
    await ctx.db
      .delete(packageLooseFiles)
      .where(sql`${packageLooseFiles.uuid} in (select value from json_each(${list}))`);
  };
  ctx.defer(drop().catch(() => log("package:blobs-not-dropped", { count: uuids.length })));
}

/**
 * The same pieces, as far as they are within a size.
 *
 * @param bytesBefore The size of what earlier requests have received of the file.
 * @throws Failure `forbidden` beyond it.
 */
export async function* boundPieces(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
  bytesBefore = 0,
): AsyncGenerator<Uint8Array> {
  let bytes = bytesBefore;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) throw forbidden(`the file is larger than ${bytesMax} bytes`);
    yield piece;
  }
}
