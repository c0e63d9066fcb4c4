import type { Ctx } from "../../context.ts";
import type { Repository } from "../../db/schema/index.ts";
import { isSymlinkMode } from "../../git/object/tree.ts";
import { findLfsObject } from "../lfs/find-objects.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { FoundFile } from "./find-file.ts";
import { POINTER_BYTES_MAX, readLfsPointer } from "./lfs-pointer.ts";
import { streamBlob } from "./stream-blob.ts";

/** Pieces that a large file is read in, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** The bytes of a file that was found. */
export interface FileContent {
  /** What names these bytes and no others. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** Whether the same commit will always have these. */
  readonly isFinal: boolean;
  stream(): AsyncGenerator<Uint8Array>;
}

/** A file as git has it. */
export async function openBlob(
  ctx: Ctx,
  repo: Repository,
  { repository }: RepositorySnapshot,
  { entry: { oid }, location }: FoundFile,
): Promise<FileContent> {
  const sizeBytes = repository.catalog.sizeBytes(location);
  const stream = () => streamBlob(ctx, repo, repository, location);
  return { oid, sizeBytes, isFinal: true, stream };
}

/** What a file points at, if it is a pointer to a large file that the repository has; else the file. */
export async function openMedia(
  ctx: Ctx,
  repo: Repository,
  snapshot: RepositorySnapshot,
  file: FoundFile,
): Promise<FileContent> {
  const { catalog, objects } = snapshot.repository;
  const blob = await openBlob(ctx, repo, snapshot, file);
  const mayPoint =
    ctx.config.isLfsOn &&
    !isSymlinkMode(file.entry.mode) &&
    catalog.sizeBytes(file.location) < POINTER_BYTES_MAX &&
    !objects.findLarge(file.entry.oid);
  const pointer = mayPoint ? readLfsPointer(await objects.readAt(file.location)) : undefined;
  if (!pointer) return blob;
  const object = await findLfsObject(ctx, repo, pointer.oid);
  // It may come yet.
  if (object?.sizeBytes !== pointer.sizeBytes) return { ...blob, isFinal: false };
  const { oid, sizeBytes, uploadId } = object;
  const large = { networkName: repo.networkName, oid, uploadId };
  const stream = () => ctx.git.largeFiles.stream(large, PIECE_BYTES);
  return { oid, sizeBytes, isFinal: true, stream };
}
