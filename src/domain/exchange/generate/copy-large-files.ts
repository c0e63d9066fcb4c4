import type { Ctx } from "../../../context.ts";
import type { LfsObject, Repository } from "../../../db/schema/index.ts";
import { tooLarge } from "../../../lib/failure.ts";
import type { LfsPointer } from "../../code/contents/lfs-pointer.ts";
import { findObjects } from "../../code/lfs/find-objects.ts";
import { storeObject } from "../../code/lfs/store-object.ts";

/**
 * Bounds of the large files of a template, which are copied one after the other while the caller
 * waits.
 */
const FILES_MAX = 100;
const BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Finds the large files of a template that its files point at. Pointers without a file are left
 * alone.
 *
 * @throws Failure `too_large` if they are too many, or too large together.
 */
export async function findLargeFiles(
  ctx: Ctx,
  template: Repository,
  pointers: ReadonlyMap<string, LfsPointer>,
): Promise<LfsObject[]> {
  if (pointers.size === 0) return [];
  const objects = [...(await findObjects(ctx, template, [...pointers.keys()])).values()];
  const bytes = objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (objects.length > FILES_MAX || bytes > BYTES_MAX) {
    throw tooLarge(
      `a template may have ${FILES_MAX} large files, and ${BYTES_MAX} bytes of them, at most`,
    );
  }
  return objects;
}

/**
 * Copies large files to a repository of another fork network, which shares no files with the
 * template's.
 */
export async function copyLargeFiles(
  ctx: Ctx,
  template: Repository,
  repo: Repository,
  objects: readonly LfsObject[],
): Promise<void> {
  const { networkName } = template;
  for (const { oid, sizeBytes, uploadId } of objects) {
    const file = { networkName, oid, uploadId };
    const body = await ctx.git.largeFiles.open(file, { start: 0, end: sizeBytes });
    await storeObject(ctx, repo, { oid, sizeBytes }, body);
  }
}
