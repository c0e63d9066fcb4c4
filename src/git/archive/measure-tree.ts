import { overLimit } from "../error.ts";
import { isSubmoduleMode, isTreeMode, parseTreeInPieces } from "../object/tree.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";

/** The totals of a tree and everything below it. */
export interface TreeMeasure {
  readonly entryCount: number;
  /** Total size of all files. */
  readonly contentBytes: number;
  /** Length of the longest path. */
  readonly pathBytes: number;
}

/** Steps to measure an entry. */
const ENTRY_STEPS = 200;

/** Trees nested deeper than this are refused: no file system could hold a checkout of them. */
const DEPTH_MAX = 2048;

/**
 * Measures a tree.
 *
 * SECURITY: each tree is read once, and its totals are reused when it occurs again. Otherwise a few
 * trees that each contain the next one ten times would cause an exponential number of reads.
 *
 * Cost: one read for each distinct tree; no blob is read.
 *
 * @throws GitError `limit` for trees nested too deep.
 */
export async function measureTree(
  catalog: PackCatalog,
  objects: PackedObjects,
  root: ObjectLocation,
): Promise<TreeMeasure> {
  const known = new Map<string, TreeMeasure>();
  const measure = async (tree: ObjectLocation, depth: number): Promise<TreeMeasure> => {
    if (depth > DEPTH_MAX) throw overLimit("trees nested too deep");
    let entryCount = 0;
    let contentBytes = 0;
    let pathBytes = 0;
    const entries = await parseTreeInPieces(await objects.readAt(tree), objects.budget);
    for (const { mode, name, oid } of entries) {
      const pausing = objects.budget.pause(ENTRY_STEPS);
      if (pausing) await pausing;
      entryCount++;
      const location = isSubmoduleMode(mode) ? undefined : catalog.find(oid);
      if (!isTreeMode(mode) || !location) {
        contentBytes += location ? catalog.sizeBytes(location) : 0;
        pathBytes = Math.max(pathBytes, name.length);
        continue;
      }
      const below = known.get(oid) ?? (await measure(location, depth + 1));
      entryCount += below.entryCount;
      contentBytes += below.contentBytes;
      pathBytes = Math.max(pathBytes, name.length + 1 + below.pathBytes);
    }
    const measured = { entryCount, contentBytes, pathBytes };
    known.set(catalog.oid(tree), measured);
    return measured;
  };
  return measure(root, 0);
}
