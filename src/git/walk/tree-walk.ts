import type { Budget } from "../budget.ts";
import { overLimit } from "../error.ts";
import { TREE } from "../object/kind.ts";
import { isSubmoduleMode, visitTreeInPieces } from "../object/tree.ts";
import { OID_BYTES } from "../oid.ts";
import { resident } from "../catalog/block-pool.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";

/** Trees nested deeper than this are refused: no file system could hold a checkout of them. */
const TREE_DEPTH_MAX = 2048;

/** The raw ids of the trees and blobs of a tree, as views. */
async function listChildren(content: Uint8Array, budget: Budget): Promise<Uint8Array[]> {
  const oids: Uint8Array[] = [];
  await visitTreeInPieces(
    content,
    (mode, _nameStart, _nameEnd, oidOffset) => {
      if (!isSubmoduleMode(mode)) oids.push(content.subarray(oidOffset, oidOffset + OID_BYTES));
    },
    budget,
  );
  return oids;
}

/** Steps to visit an object. */
const VISIT_STEPS = 100;

/**
 * Walks a tree and everything below it.
 *
 * @param packed Reads the trees that are entered. Its budget pauses the walk.
 * @param visit Receives each object with its depth, 0 for the tree itself, and returns whether to
 * enter it. An object found at several paths is visited once per path.
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
    const pausing = packed.budget.pause(VISIT_STEPS);
    if (pausing) await pausing;
    if (depth > TREE_DEPTH_MAX) {
      throw overLimit(`a tree may be nested ${TREE_DEPTH_MAX} deep at most`);
    }
    // The facts that `visit` reads of the object are in the same block.
    if (catalog.isByBlock) await resident(() => catalog.entry(location));
    if (!visit(location, depth) || catalog.kind(location) !== TREE) continue;
    const content = await packed.readAt(location);
    if (catalog.isByBlock) {
      const children = await catalog.findAll(await listChildren(content, packed.budget));
      for (const child of children) if (child) stack.push({ location: child, depth: depth + 1 });
      continue;
    }
    await visitTreeInPieces(
      content,
      (mode, _nameStart, _nameEnd, oidOffset) => {
        if (isSubmoduleMode(mode)) return;
        const child = catalog.findRaw(content, oidOffset);
        if (child) stack.push({ location: child, depth: depth + 1 });
      },
      packed.budget,
    );
  }
}
