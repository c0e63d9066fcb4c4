import type { Ctx } from "../../../context.ts";
import type { Repository } from "../../../db/schema/index.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { isSymlinkMode } from "../../../git/object/tree.ts";
import { findLfsObject } from "../lfs/find-objects.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { FoundFile } from "./find-file.ts";
import { POINTER_BYTES_MAX, readLfsPointer } from "./lfs-pointer.ts";
import { streamBlob } from "./stream-blob.ts";

/** Size of the chunks in which an LFS object is read, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** An opened file. */
export interface FileContent {
  /** Content hash: the blob id, or the SHA-256 of an LFS object. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** Whether the commit will always resolve to this content. */
  readonly isFinal: boolean;
  stream(): AsyncGenerator<Uint8Array>;
}

/** Opens a file's blob. */
export async function openBlob(
  ctx: Ctx,
  repo: Repository,
  { repository }: RepositorySnapshot,
  { entry: { oid }, location }: FoundFile,
): Promise<FileContent> {
  const sizeBytes = await resident(() => repository.catalog.sizeBytes(location));
  const stream = () => streamBlob(ctx, repo, repository, location);
  return { oid, sizeBytes, isFinal: true, stream };
}

/**
 * Opens the LFS object if the file is a pointer to one that the repository has, else the file's
 * blob.
 */
export async function openMedia(
  ctx: Ctx,
  repo: Repository,
  snapshot: RepositorySnapshot,
  file: FoundFile,
): Promise<FileContent> {
  const { objects } = snapshot.repository;
  const blob = await openBlob(ctx, repo, snapshot, file);
  const mayBePointer =
    ctx.config.isLfsOn &&
    !isSymlinkMode(file.entry.mode) &&
    blob.sizeBytes < POINTER_BYTES_MAX &&
    !(await resident(() => objects.findLarge(file.entry.oid)));
  const pointer = mayBePointer ? readLfsPointer(await objects.readAt(file.location)) : undefined;
  if (!pointer) return blob;
  const object = await findLfsObject(ctx, repo, pointer.oid);
  // The object may be uploaded later.
  if (object?.sizeBytes !== pointer.sizeBytes) return { ...blob, isFinal: false };
  const { oid, sizeBytes, uploadId } = object;
  const large = { networkName: repo.networkName, oid, uploadId };
  const stream = () => ctx.git.largeFiles.stream(large, PIECE_BYTES);
  return { oid, sizeBytes, isFinal: true, stream };
}
