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
 * Walks a tree and everything below it, level by level: the trees of a level are read together.
 *
 * @param packed Reads the trees that are entered. Its budget pauses the walk.
 * @param visit Receives each object with its depth, 0 for the tree itself, and returns whether to
 * enter it. An object found at several paths is visited once per path: those to be entered are in
 * memory, so it enters none a second time at the same depth.
 * @throws GitError `limit` if trees are nested too deep.
 */
export async function walkTree(
  catalog: PackCatalog,
  packed: PackedObjects,
  root: ObjectLocation,
  visit: (location: ObjectLocation, depth: number) => boolean,
): Promise<void> {
  const look = (location: ObjectLocation, depth: number, trees: ObjectLocation[]): void => {
    if (depth > TREE_DEPTH_MAX) {
      throw overLimit(`a tree may be nested ${TREE_DEPTH_MAX} deep at most`);
    }
    if (visit(location, depth) && catalog.kind(location) === TREE) trees.push(location);
  };
  // The facts that `visit` reads of the object are in the same block.
  const lookByBlock = async (...item: Parameters<typeof look>): Promise<void> => {
    await resident(() => catalog.entry(item[0]));
    look(...item);
  };
  let level: ObjectLocation[] = [];
  await lookByBlock(root, 0, level);
  for (let depth = 1; level.length > 0; depth++) {
    const trees: ObjectLocation[] = [];
    for await (const content of packed.readTogether(level)) {
      if (catalog.isByBlock) {
        const children = await catalog.findAll(await listChildren(content, packed.budget));
        for (const child of children) if (child) await lookByBlock(child, depth, trees);
        continue;
      }
      await visitTreeInPieces(
        content,
        (mode, _nameStart, _nameEnd, oidOffset) => {
          if (isSubmoduleMode(mode)) return;
          packed.budget.consume(VISIT_STEPS);
          const child = catalog.findRaw(content, oidOffset);
          if (child) look(child, depth, trees);
        },
        packed.budget,
      );
    }
    level = trees;
  }
}
