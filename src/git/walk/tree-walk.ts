import { overLimit } from "../error.ts";
import { TREE } from "../object/kind.ts";
import { isSubmoduleMode, visitTree } from "../object/tree.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";

/** Trees nested deeper than this are refused: no file system could hold a checkout of them. */
const TREE_DEPTH_MAX = 2048;

/**
 * Walks a tree and everything below it.
 *
 * @param packed Reads the trees that are entered.
 * @param visit Receives each object with its depth, 0 for the tree itself, and returns whether to enter
 * it. An object found at several paths is visited once per path.
 * @throws GitError `limit` if trees are nested too deep.
 */
export async function walkTree(
  catalog: PackCatalog,
  packed: PackedObjects,
  root: ObjectLocation,
  visit: (location: ObjectLocation, depth: number) => boolean,
): Promise<void> {
  const stack = [{ location: root, depth: 0 }];
  for (let item = stack.pop(); item; item = stack.pop()) {
    const { location, depth } = item;
    if (depth > TREE_DEPTH_MAX) {
      throw overLimit(`a tree may be nested ${TREE_DEPTH_MAX} deep at most`);
    }
    if (!visit(location, depth) || catalog.kind(location) !== TREE) continue;
    const content = await packed.readAt(location);
    visitTree(content, (mode, _nameStart, _nameEnd, oidOffset) => {
      if (isSubmoduleMode(mode)) return;
      const child = catalog.findRaw(content, oidOffset);
      if (child) stack.push({ location: child, depth: depth + 1 });
    });
  }
}
