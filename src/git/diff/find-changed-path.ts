import type { Budget } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import { missing, overLimit } from "../error.ts";
import { compareTrees, entryName } from "../object/compare-trees.ts";
import { isTreeMode } from "../object/tree.ts";
import { EMPTY_TREE_OID, formatOid, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";

/**
 * Steps for each entry that differs, besides the reads, which the reader counts. They also bound
 * the memory: directories that wait hold some 200 bytes each.
 */
const STEPS_PER_ENTRY = 1000;

/** Two versions of a directory; undefined where it does not exist. */
interface DirectoryPair {
  /** The path of the directory with a slash at its end, "" for the root. */
  readonly prefix: string;
  oldOid: Oid | undefined;
  newOid: Oid | undefined;
}

/**
 * Finds a path that differs between two trees and for which `isFound` holds: a file, symlink or
 * submodule that was added, deleted or changed, in its content or in its mode. A rename is a
 * deletion and an addition.
 *
 * Equal directories are not read, and nothing is read after the first find. The memory held is that
 * of the directories on one level that differ.
 *
 * @param objects Counts its reads in the same budget.
 * @param oldOid Undefined for an empty tree: everything was added.
 * @throws GitError `missing` if a tree does not exist, `limit` once the budget is exhausted.
 */
export async function findChangedPath(
  objects: ObjectReader,
  oldOid: Oid | undefined,
  newOid: Oid | undefined,
  isFound: (path: ByteText) => boolean,
  budget: Budget,
): Promise<ByteText | undefined> {
  const stack: DirectoryPair[] = [{ prefix: "", oldOid, newOid }];
  for (let pair = stack.pop(); pair; pair = stack.pop()) {
    if (pair.oldOid === pair.newOid) continue;
    const { prefix } = pair;
    const left = await readTree(objects, pair.oldOid);
    const right = await readTree(objects, pair.newOid);
    const below = new Map<string, DirectoryPair>();
    let found: ByteText | undefined;
    const visit = (bytes: Uint8Array, side: "oldOid" | "newOid") => {
      return (mode: number, oidOffset: number, start: number): void => {
        // The visit of the two trees can't be ended early; what is left of it costs little.
        if (found !== undefined || budget.isExhausted) return;
        budget.consume(STEPS_PER_ENTRY);
        const path = prefix + entryName(bytes, start, oidOffset);
        if (!isTreeMode(mode)) {
          if (isFound(path as ByteText)) found = path as ByteText;
          return;
        }
        const directory = below.get(path) ?? {
          prefix: `${path}/`,
          oldOid: undefined,
          newOid: undefined,
        };
        directory[side] = formatOid(bytes, oidOffset);
        below.set(path, directory);
      };
    };
    compareTrees(left, right, visit(left, "oldOid"), visit(right, "newOid"));
    if (found !== undefined) return found;
    if (budget.isExhausted) throw overLimit("too many changed files");
    await budget.pause();
    for (const directory of below.values()) stack.push(directory);
  }
  return undefined;
}

async function readTree(objects: ObjectReader, oid: Oid | undefined): Promise<Uint8Array> {
  // Git treats the empty tree as present even if it is not stored.
  if (oid === undefined || oid === EMPTY_TREE_OID) return NOTHING;
  const found = await objects.readObject(oid);
  if (found?.kind !== "tree") throw missing(`tree ${oid}`);
  return found.content;
}

const NOTHING = new Uint8Array(0);
