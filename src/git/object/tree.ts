import { type Budget, finishInTurns, type Steps } from "../budget.ts";
import { type ByteText, readByteText } from "../byte-text.ts";
import { corrupt } from "../error.ts";
import { formatOid, type Oid, OID_BYTES, writeOid } from "../oid.ts";

/** The modes that git writes. */
export const MODE_TREE = 0o040000;
export const MODE_FILE = 0o100644;
export const MODE_EXECUTABLE = 0o100755;
export const MODE_SYMLINK = 0o120000;
export const MODE_SUBMODULE = 0o160000;
/** The bits of a mode that hold the type of the entry. */
export const MODE_TYPE = 0o170000;

/** One entry of a tree. */
export interface TreeEntry {
  /** Kind and permission, in the bits of `stat(2)`. */
  readonly mode: number;
  readonly name: ByteText;
  /** The id of the tree or blob; for a submodule, the id of a commit in another repository. */
  readonly oid: Oid;
}

/** True for the mode of a regular file, executable or not; false for a symlink. */
export const isRegularMode = (mode: number): boolean =>
  (mode & MODE_TYPE) === (MODE_FILE & MODE_TYPE);
export const isTreeMode = (mode: number): boolean => (mode & MODE_TYPE) === MODE_TREE;
export const isSubmoduleMode = (mode: number): boolean => (mode & MODE_TYPE) === MODE_SUBMODULE;
export const isSymlinkMode = (mode: number): boolean => (mode & MODE_TYPE) === MODE_SYMLINK;

/** Receives an entry's mode, and offsets into the tree's bytes. `nameEnd` is exclusive. */
export type TreeVisitor = (
  mode: number,
  nameStart: number,
  nameEnd: number,
  oidOffset: number,
) => void;

/**
 * Calls `visit` for each entry of a tree, in stored order, without allocating.
 *
 * @param start Offset of the first entry.
 * @param until Offset from which on no entry is visited.
 * @returns Offset after the last entry that was visited.
 * @throws GitError `corrupt` at the first entry that cannot be read; earlier ones were visited.
 */
export function visitTree(
  bytes: Uint8Array,
  visit: TreeVisitor,
  start = 0,
  until = bytes.length,
): number {
  const { length } = bytes;
  let at = start;
  while (at < until) {
    let mode = 0;
    const modeStart = at;
    for (; at < length && bytes[at] !== 0x20; at++) {
      const digit = (bytes[at] as number) - 0x30;
      if (digit < 0 || digit > 7) throw corrupt("tree: mode is not octal");
      mode = ((mode << 3) | digit) >>> 0;
    }
    if (at === modeStart) throw corrupt("tree: entry without mode");
    const nameStart = ++at;
    while (at < length && bytes[at] !== 0) at++;
    const oidOffset = at + 1;
    if (oidOffset + OID_BYTES > length) throw corrupt("tree: entry cut off");
    if (at === nameStart) throw corrupt("tree: entry without name");
    visit(mode, nameStart, at, oidOffset);
    at = oidOffset + OID_BYTES;
  }
  return at;
}

/** Bytes of a tree that are read before its reader yields. */
export const TREE_PART_BYTES = 64 * 1024;
/** Steps to check or compare a byte of a tree. */
export const STEPS_PER_TREE_BYTE = 0.5;

/** `visitTree` in parts. */
export function* visitTreeInParts(bytes: Uint8Array, visit: TreeVisitor): Steps {
  for (let at = 0; at < bytes.length;) {
    const next = visitTree(bytes, visit, at, Math.min(bytes.length, at + TREE_PART_BYTES));
    yield STEPS_PER_TREE_BYTE * (next - at);
    at = next;
  }
}

/** `visitTree` of a tree that may be large: other work may run between its entries. */
export function visitTreeInPieces(
  bytes: Uint8Array,
  visit: TreeVisitor,
  budget: Budget,
): Promise<void> {
  return finishInTurns(visitTreeInParts(bytes, visit), budget);
}

/**
 * Returns the entry with the given name, without allocating for the others.
 *
 * @throws GitError `corrupt` if the bytes are not a tree.
 */
export function findTreeEntry(
  bytes: Uint8Array,
  name: Uint8Array,
): { mode: number; oidOffset: number } | undefined {
  let found: { mode: number; oidOffset: number } | undefined;
  visitTree(bytes, (mode, nameStart, nameEnd, oidOffset) => {
    if (found || nameEnd - nameStart !== name.length) return;
    for (let at = 0; at < name.length; at++) if (bytes[nameStart + at] !== name[at]) return;
    found = { mode, oidOffset };
  });
  return found;
}

/**
 * Parses a tree's entries, in stored order.
 *
 * @throws GitError `corrupt` if the bytes are not a tree.
 */
export function parseTree(bytes: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = [];
  visitTree(bytes, listing(bytes, entries));
  return entries;
}

/** `parseTree` of a tree that may be large: other work may run between its entries. */
export async function parseTreeInPieces(bytes: Uint8Array, budget: Budget): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  await visitTreeInPieces(bytes, listing(bytes, entries), budget);
  return entries;
}

function listing(bytes: Uint8Array, entries: TreeEntry[]): TreeVisitor {
  return (mode, nameStart, nameEnd, oidOffset) =>
    void entries.push({
      mode,
      name: readByteText(bytes, nameStart, nameEnd),
      oid: formatOid(bytes, oidOffset),
    });
}

/**
 * Compares two entries of one tree in git's order: by bytes, with a directory's name as if it ended
 * in a slash.
 */
export function compareTreeEntries(a: TreeEntry, b: TreeEntry): number {
  const left = isTreeMode(a.mode) ? `${a.name}/` : a.name;
  const right = isTreeMode(b.mode) ? `${b.name}/` : b.name;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Formats a tree. Sorts the entries; the caller validates their names. */
export function formatTree(entries: readonly TreeEntry[]): Uint8Array {
  const sorted = entries.toSorted(compareTreeEntries);
  const heads = sorted.map((entry) => `${entry.mode.toString(8)} ${entry.name}\0`);
  const size = heads.reduce((sum, head) => sum + head.length + OID_BYTES, 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const [index, entry] of sorted.entries()) {
    const head = heads[index] as string;
    for (let char = 0; char < head.length; char++) bytes[at++] = head.charCodeAt(char);
    writeOid(entry.oid, bytes, at);
    at += OID_BYTES;
  }
  return bytes;
}
