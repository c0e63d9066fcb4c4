import { readByteText, type ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import { formatOid, type Oid, OID_BYTES } from "../oid.ts";
import { type DotName, isHfsDisguise, isNtfsDisguise } from "./disguise.ts";
import { type Finding, Findings } from "./finding.ts";
import {
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_SUBMODULE,
  MODE_SYMLINK,
  MODE_TREE,
  visitTree,
} from "./tree.ts";

/** What a tree says about blobs that have rules of their own, to be checked when they are read. */
export interface SpecialBlobs {
  /** Blobs that some file system would open as `.gitmodules`. */
  readonly gitmodulesOids: Set<Oid>;
  /** Blobs that some file system would open as `.gitattributes`. */
  readonly gitattributesOids: Set<Oid>;
}

const isDisguise = (name: ByteText, dotName: DotName): boolean =>
  isHfsDisguise(name, dotName) || isNtfsDisguise(name, dotName);

/**
 * Everything `git fsck` says of a tree.
 *
 * SECURITY: this refuses `.git` in all its disguises, `..`, slashes and duplicates before a tree
 * that holds them can reach a checkout.
 *
 * @param special Receives the blobs that must be checked as configuration files.
 */
export function checkTree(bytes: Uint8Array, isStrict: boolean, special: SpecialBlobs): Finding[] {
  const findings = new Findings(isStrict);
  const seen = new Set<
    | "nullSha1"
    | "fullPathname"
    | "hasDot"
    | "hasDotdot"
    | "hasDotgit"
    | "zeroPaddedFilemode"
    | "badFilemode"
    | "duplicateEntries"
    | "treeNotSorted"
  >();
  // Files whose name a later directory may repeat behind names such as `foo.bar`.
  const fileNames = new Set<string>();
  let lastEnd = 0;
  let lastName = "";
  let lastKey = "";

  try {
    visitTree(bytes, (mode, nameStart, nameEnd, oidOffset) => {
      const name = readByteText(bytes, nameStart, nameEnd);
      if (bytes[lastEnd] === 0x30) seen.add("zeroPaddedFilemode");
      lastEnd = oidOffset + OID_BYTES;
      if (isNull(bytes, oidOffset)) seen.add("nullSha1");
      if (!isUsualMode(mode, isStrict)) seen.add("badFilemode");

      if (mayBeSpecial(name)) {
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

      const key = isTreeMode(mode) ? `${name}/` : name;
      if (lastName === name || (isTreeMode(mode) && fileNames.has(name))) {
        seen.add("duplicateEntries");
      } else if (lastKey > key) {
        seen.add("treeNotSorted");
      }
      if (!isTreeMode(mode)) fileNames.add(name);
      lastName = name;
      lastKey = key;
    });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    findings.add("badTree");
  }

  for (const id of ORDER) {
    if (seen.has(id)) findings.add(id);
  }
  return findings.list;
}

const ORDER = [
  "nullSha1",
  "fullPathname",
  "hasDot",
  "hasDotdot",
  "hasDotgit",
  "zeroPaddedFilemode",
  "badFilemode",
  "duplicateEntries",
  "treeNotSorted",
] as const;

/** A cheap test that holds back plain names: nearly all of a tree's. */
function mayBeSpecial(name: ByteText): boolean {
  const first = name.charCodeAt(0);
  // A dot, g or G of a short name, m or M of mailmap's, a tilde, or the first byte of a mark that
  // HFS+ ignores.
  if (first === 0x2e || first === 0x7e || first >= 0x80) return true;
  if ((first | 0x20) === 0x67 || (first | 0x20) === 0x6d)
    return name.includes("~") || hasSeparator(name);
  return hasSeparator(name);
}

function hasSeparator(name: ByteText): boolean {
  return name.includes("/") || name.includes("\\");
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
  if (isDisguise(name, "git")) foundDotgit();
  if (isDisguise(name, "gitmodules")) {
    if (isSymlink) findings.add("gitmodulesSymlink");
    else special.gitmodulesOids.add(oid());
  }
  if (isDisguise(name, "gitattributes")) {
    if (isSymlink) findings.add("gitattributesSymlink");
    else special.gitattributesOids.add(oid());
  }
  if (isSymlink && isDisguise(name, "gitignore")) findings.add("gitignoreSymlink");
  if (isSymlink && isDisguise(name, "mailmap")) findings.add("mailmapSymlink");

  // Windows reads a backslash as a separator: each part behind one may be a name of git's own.
  for (let at = name.indexOf("\\"); at >= 0; at = name.indexOf("\\", at + 1)) {
    const rest = name.slice(at + 1) as ByteText;
    if (isNtfsDisguise(rest, "git")) foundDotgit();
    if (isNtfsDisguise(rest, "gitmodules")) {
      if (isSymlink) findings.add("gitmodulesSymlink");
      else special.gitmodulesOids.add(oid());
    }
  }
}

function isUsualMode(mode: number, isStrict: boolean): boolean {
  switch (mode) {
    case MODE_FILE:
    case MODE_EXECUTABLE:
    case MODE_SYMLINK:
    case MODE_TREE:
    case MODE_SUBMODULE:
      return true;
    default:
      // Git itself wrote group-writable files once.
      return mode === 0o100664 && !isStrict;
  }
}

function isNull(bytes: Uint8Array, offset: number): boolean {
  for (let at = offset; at < offset + OID_BYTES; at++) {
    if (bytes[at] !== 0) return false;
  }
  return true;
}
