import type { Steps } from "../budget.ts";
import { type ByteText, readByteText } from "../byte-text.ts";
import { corrupt, GitError } from "../error.ts";
import { formatOid, type Oid, OID_BYTES } from "../oid.ts";
import { type DotName, isHfsDisguise, isNtfsDisguise } from "./disguise.ts";
import { type Finding, Findings, type FindingSeverities } from "./finding.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_SUBMODULE,
  MODE_SYMLINK,
  MODE_TREE,
  visitTreeInParts,
} from "./tree.ts";

/**
 * Objects with format rules of their own, collected from trees and checked when they are read.
 */
export interface SpecialBlobs {
  /** Entries of trees whose names some file system resolves to `.gitmodules`. */
  readonly gitmodulesOids: Set<Oid>;
  /** Entries of trees whose names some file system resolves to `.gitattributes`. */
  readonly gitattributesOids: Set<Oid>;
}

const isDisguise = (name: ByteText, dotName: DotName): boolean =>
  isHfsDisguise(name, dotName) || isNtfsDisguise(name, dotName);

/** Findings that are reported once for a tree, in git's order. */
const FAULTS = [
  "nullSha1",
  "fullPathname",
  "hasDot",
  "hasDotdot",
  "hasDotgit",
  "zeroPaddedFilemode",
  "badFilemode",
  "duplicateEntries",
  "treeNotSorted",
  "largePathname",
] as const;

/** Maximum length of a name in bytes, as in git. */
const NAME_BYTES_MAX = 4096;
/** Longer names are not checked: the tree counts as unreadable. No system has paths as long. */
const NAME_BYTES_CHECKED_MAX = 64 * 1024;

/**
 * Returns the findings of `git fsck` on a tree.
 *
 * SECURITY: refuses every name that a file system resolves to `.git`, `..`, names with slashes and
 * duplicates, before such a tree can reach a checkout.
 *
 * Cost: one pass over the bytes. A history holds many millions of entries, so a name is decoded to
 * a string only if its bytes are suspicious.
 *
 * @param special Receives the blobs that must be checked as configuration files.
 */
export function* checkTree(
  bytes: Uint8Array,
  severities: FindingSeverities,
  special: SpecialBlobs,
): Steps<Finding[]> {
  const findings = new Findings(severities);
  const seen = new Set<(typeof FAULTS)[number]>();
  // Names of files that a directory of the same name may follow later, with names such as `foo.bar`
  // between.
  const candidates = new Set<string>();
  let last: EntryName | undefined;
  let entryStart = 0;

  try {
    yield* visitTreeInParts(bytes, (mode, nameStart, nameEnd, oidOffset) => {
      if (nameEnd - nameStart > NAME_BYTES_CHECKED_MAX) throw corrupt("tree: name too long");
      if (bytes[entryStart] === 0x30) seen.add("zeroPaddedFilemode");
      entryStart = oidOffset + OID_BYTES;
      if (bytes[oidOffset] === 0 && isNull(bytes, oidOffset)) seen.add("nullSha1");
      if (!isUsualMode(mode)) seen.add("badFilemode");
      if (nameEnd - nameStart > NAME_BYTES_MAX) seen.add("largePathname");

      if (isSuspicious(bytes, nameStart, nameEnd)) {
        const name = readByteText(bytes, nameStart, nameEnd);
        if (name.includes("/")) seen.add("fullPathname");
        if (name === ".") seen.add("hasDot");
        if (name === "..") seen.add("hasDotdot");
        checkDotNames(
          name,
          mode,
          () => formatOid(bytes, oidOffset),
          findings,
          special,
          () => {
            seen.add("hasDotgit");
          },
        );
      }

      const name = { start: nameStart, end: nameEnd, isTree: isTreeMode(mode) };
      if (last) {
        const fault = checkOrder(bytes, last, name, candidates);
        if (fault) seen.add(fault);
      }
      last = name;
    });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const unreadable = new Findings(severities);
    unreadable.add("badTree");
    return unreadable.list;
  }

  for (const id of FAULTS) {
    if (seen.has(id)) findings.add(id);
  }
  return findings.list;
}

/**
 * True if a tree has no findings, given that it differs from a tree without findings only in the
 * ids of some entries: modes, names and order were checked on the other tree. False if the full
 * check is required.
 *
 * @param entries Offsets at which the changed entries start.
 */
export function isSoundEdit(bytes: Uint8Array, entries: readonly number[]): boolean {
  for (const start of entries) {
    const nameStart = bytes.indexOf(SPACE, start) + 1;
    const nameEnd = bytes.indexOf(0, nameStart);
    const oidOffset = nameEnd + 1;
    if (bytes[oidOffset] === 0 && isNull(bytes, oidOffset)) return false;
    // The blob of such an entry may have to be checked as a configuration file.
    if (isSuspicious(bytes, nameStart, nameEnd)) return false;
  }
  return true;
}

/** The range of a name in a tree's bytes. */
interface EntryName {
  readonly start: number;
  readonly end: number;
  readonly isTree: boolean;
}

/** Checks the order of two consecutive entries. */
function checkOrder(
  bytes: Uint8Array,
  a: EntryName,
  b: EntryName,
  candidates: Set<string>,
): "duplicateEntries" | "treeNotSorted" | undefined {
  let left = a.start;
  let right = b.start;
  while (left < a.end && right < b.end && bytes[left] === bytes[right]) {
    left++;
    right++;
  }
  if (left === a.end && right === b.end) return "duplicateEntries";
  const leftByte = left < a.end ? (bytes[left] as number) : a.isTree ? SLASH : 0;
  const rightByte = right < b.end ? (bytes[right] as number) : b.isTree ? SLASH : 0;
  if (left === a.end && !a.isTree && rightByte < SLASH) {
    candidates.add(readByteText(bytes, a.start, a.end));
  }
  if (b.isTree && candidates.size > 0 && candidates.has(readByteText(bytes, b.start, b.end))) {
    return "duplicateEntries";
  }
  return leftByte < rightByte ? undefined : "treeNotSorted";
}

const SPACE = 0x20;
const DOT = 0x2e;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const TILDE = 0x7e;

/**
 * True for a name that may resolve to one of git's own: it starts with a dot or with the first byte
 * of a character that HFS+ ignores, or contains a character that Windows treats as a path separator
 * or as part of a short name. Nearly all names are not suspicious.
 */
function isSuspicious(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] as number;
  if (first === DOT || first === 0xe2 || first === 0xef) return true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === SLASH || byte === BACKSLASH || byte === TILDE) return true;
  }
  return false;
}

function checkDotNames(
  name: ByteText,
  mode: number,
  oid: () => Oid,
  findings: Findings,
  special: SpecialBlobs,
  foundDotgit: () => void,
): void {
  const isSymlink = isSymlinkMode(mode);
  const isSubmodule = isSubmoduleMode(mode);
  const foundGitmodules = (): void => {
    if (isSymlink) findings.add("gitmodulesSymlink");
    // Git looks for the commit, which may be anywhere; here it is no file wherever it is.
    else if (isSubmodule) findings.add("gitmodulesBlob");
    else special.gitmodulesOids.add(oid());
  };
  if (isDisguise(name, "git")) foundDotgit();
  if (isDisguise(name, "gitmodules")) foundGitmodules();
  if (isDisguise(name, "gitattributes")) {
    if (isSymlink) findings.add("gitattributesSymlink");
    else if (isSubmodule) findings.add("gitattributesBlob");
    else special.gitattributesOids.add(oid());
  }
  if (isSymlink && isDisguise(name, "gitignore")) findings.add("gitignoreSymlink");
  if (isSymlink && isDisguise(name, "mailmap")) findings.add("mailmapSymlink");

  // Windows treats a backslash as a separator, so the part after each one may be a name of git's
  // own.
  for (let at = name.indexOf("\\"); at >= 0; at = name.indexOf("\\", at + 1)) {
    const rest = name.slice(at + 1) as ByteText;
    if (isNtfsDisguise(rest, "git")) foundDotgit();
    if (isNtfsDisguise(rest, "gitmodules")) foundGitmodules();
  }
}

function isUsualMode(mode: number): boolean {
  switch (mode) {
    case MODE_FILE:
    case MODE_EXECUTABLE:
    case MODE_SYMLINK:
    case MODE_TREE:
    case MODE_SUBMODULE:
      return true;
    default:
      // Group-writable files of early versions of git, too: git reports them on receipt.
      return false;
  }
}

function isNull(bytes: Uint8Array, offset: number): boolean {
  for (let at = offset; at < offset + OID_BYTES; at++) {
    if (bytes[at] !== 0) return false;
  }
  return true;
}
