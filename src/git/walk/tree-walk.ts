import { overLimit } from "../error.ts";
import { TREE } from "../object/kind.ts";
import { isSubmoduleMode, visitTree } from "../object/tree.ts";
import type { PackCatalog, ObjectLocation } from "../pack/pack-catalog.ts";
import type { PackedObjects } from "../pack/packed-objects.ts";

/** Trees nested deeper than this are refused: no checkout could hold them. */
const TREE_DEPTH_MAX = 2048;

/**
 * Walks a tree and what it leads to.
 *
 * @param visit Receives each object with its depth, 0 for the tree itself, and answers whether to
 * go into it. It may be called for one object at several places.
 * @param packed Whether trees have to be read: those that `visit` goes into.
 */
export async function walkTree(
  catalog: PackCatalog,
  packed: PackedObjects,
  root: ObjectLocation,
  visit: (location: ObjectLocation, depth: number) => boolean,
): Promise<void> {
  const stack = [{ place: root, depth: 0 }];
  for (let item = stack.pop(); item; item = stack.pop()) {
    const { place: location, depth } = item;
    if (depth > TREE_DEPTH_MAX) throw overLimit("tree nested too deep");
    if (!visit(location, depth) || catalog.kind(location) !== TREE) continue;
    const content = await packed.readAt(location);
    visitTree(content, (mode, _nameStart, _nameEnd, oidOffset) => {
      if (isSubmoduleMode(mode)) return;
      const child = catalog.findRaw(content, oidOffset);
      if (child) stack.push({ place: child, depth: depth + 1 });
    });
  }
}
