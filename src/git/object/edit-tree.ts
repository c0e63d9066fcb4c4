import type { ByteText } from "../byte-text.ts";
import { corrupt, missing } from "../error.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import { isTreeMode, MODE_TREE, parseTree, formatTree, type TreeEntry } from "./tree.ts";

/** What shall stand at a path; undefined for nothing. */
export type TreeEdit = { readonly mode: number; readonly oid: Oid } | undefined;

/** Takes a new tree and answers its id: `PackBuilder.add`, with the tree it was made from. */
export type TreeSink = (content: Uint8Array, baseOid: Oid | undefined) => Oid;

/**
 * Puts entries into a tree, replaces and removes them, and answers the id of the new root.
 *
 * Only the trees on the way to an edit are read and written. A directory that becomes empty goes
 * away, as git has none; a file in the way of a directory is replaced by it only if it is edited
 * away too.
 *
 * SECURITY: paths are split at slashes and nothing else. That a name is no `.git`, `..` or other
 * name that no tree may hold is checked by `checkTree` when the objects are stored.
 *
 * @throws GitError `missing` if a tree does not exist; `corrupt` for an empty name, or a path through
 * a file that stays.
 */
export async function editTree(
  objects: ObjectReader,
  rootOid: Oid | undefined,
  edits: ReadonlyMap<ByteText, TreeEdit>,
  write: TreeSink,
): Promise<Oid> {
  const root = await editLevel(objects, rootOid, [...edits], write);
  return root ?? write(formatTree([]), undefined);
}

type PathEdit = readonly [path: string, edit: TreeEdit];

/** Edits one tree; undefined if nothing is left in it. */
async function editLevel(
  objects: ObjectReader,
  treeOid: Oid | undefined,
  edits: readonly PathEdit[],
  write: TreeSink,
): Promise<Oid | undefined> {
  const entries = new Map<string, TreeEntry>();
  if (treeOid !== undefined && treeOid !== EMPTY_TREE_OID) {
    const found = await objects.readObject(treeOid);
    if (found?.kind !== "tree") throw missing(`tree ${treeOid}`);
    for (const entry of parseTree(found.content)) entries.set(entry.name, entry);
  }

  const below = new Map<string, PathEdit[]>();
  // Removals first: what a path runs through may be edited away in the same breath.
  for (const [path, edit] of edits.toSorted(
    ([, a], [, b]) => Number(a !== undefined) - Number(b !== undefined),
  )) {
    const slash = path.indexOf("/");
    const name = (slash < 0 ? path : path.slice(0, slash)) as ByteText;
    if (name === "") throw corrupt(`path with an empty name: ${JSON.stringify(path)}`);
    if (slash >= 0) {
      const list = below.get(name);
      if (list) list.push([path.slice(slash + 1), edit]);
      else below.set(name, [[path.slice(slash + 1), edit]]);
    } else if (edit) {
      entries.set(name, { name, ...edit });
    } else {
      entries.delete(name);
    }
  }

  for (const [name, list] of below) {
    const old = entries.get(name);
    const isTree = old !== undefined && isTreeMode(old.mode);
    if (old && !isTree) {
      if (list.every(([, edit]) => edit === undefined)) continue;
      throw corrupt(`${JSON.stringify(name)} is a file and a directory`);
    }
    const oid = await editLevel(objects, old?.oid, list, write);
    if (oid === undefined) entries.delete(name);
    else entries.set(name, { mode: MODE_TREE, name: name as ByteText, oid });
  }
  if (entries.size === 0) return undefined;
  return write(formatTree([...entries.values()]), treeOid);
}
