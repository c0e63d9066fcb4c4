import { overLimit } from "../error.ts";
import { isSubmoduleMode, isTreeMode, parseTree } from "../object/tree.ts";
import type { PackCatalog, ObjectLocation } from "../pack/pack-catalog.ts";
import type { PackedObjects } from "../pack/packed-objects.ts";

/** What a tree comes to with all that is below it. */
export interface TreeMeasure {
  readonly entryCount: number;
  /** Of all files. */
  readonly contentBytes: number;
  /** Of the longest path. */
  readonly pathBytes: number;
}

/** Trees nested deeper than this are refused: no checkout could hold them. */
const DEPTH_MAX = 2048;

/**
 * Measures a tree.
 *
 * SECURITY: a tree that is met again is counted, not read again: ten trees that each hold the next
 * ten times stand for more entries than anybody could write down.
 *
 * Cost: each tree once; no blob is read.
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
    for (const { mode, name, oid } of parseTree(await objects.readAt(tree))) {
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
