import type { ByteText } from "../byte-text.ts";
import { MODE_EXECUTABLE, MODE_FILE, MODE_SUBMODULE, MODE_TYPE } from "../object/tree.ts";
import {
  isRegularMode,
  isSymlinkMode,
  isTreeMode,
  MODE_SYMLINK,
  MODE_TREE,
} from "../object/tree.ts";
import type { Oid } from "../oid.ts";

/** The sides of a merge, as indexes. */
export const BASE = 0;
export const OURS = 1;
export const THEIRS = 2;
export type Side = typeof OURS | typeof THEIRS;
export const SIDES: readonly Side[] = [OURS, THEIRS];
export const otherSide = (side: Side): Side => (side === OURS ? THEIRS : OURS);

// Sets of sides as bits, combined from `maskOf` of each side.
export const BASE_MASK = 1;
export const OUR_MASK = 2;
export const THEIR_MASK = 4;
export const ALL_MASK = 7;
export const maskOf = (side: 0 | Side): number => 1 << side;

/** One value for each side: base, ours, theirs. */
export type ThreeWay<T> = [T, T, T];

/** The mode and id of an entry at a path on one side. */
export interface Version {
  readonly mode: number;
  readonly oid: Oid;
}

/** The state of one path during a merge of three trees. */
export interface MergePath {
  /** The file, symlink or submodule at the path on each side. */
  readonly files: ThreeWay<Version | undefined>;
  /** The directory at the path on each side. */
  readonly trees: ThreeWay<Oid | undefined>;
  /** The path from which each of `files` was moved; this path if it was not moved. */
  readonly origins: ThreeWay<ByteText>;
  /** The sides that have the same file at the path; 0 for none. */
  sameMask: number;
  /** True if the path is in conflict for a reason other than its content. */
  hasPathConflict: boolean;
  isResolved: boolean;
  /** The resolved entry; undefined if the path is absent from the result. */
  result: Version | undefined;
}

export function makeMergePath(path: ByteText): MergePath {
  return {
    files: [undefined, undefined, undefined],
    trees: [undefined, undefined, undefined],
    origins: [path, path, path],
    sameMask: 0,
    hasPathConflict: false,
    isResolved: false,
    result: undefined,
  };
}

/** The mask of the sides that have a value. */
export function presence(values: ThreeWay<unknown>): number {
  const bit = (at: number): number => (values[at] === undefined ? 0 : 1 << at);
  return bit(0) | bit(1) | bit(2);
}

export function isSameVersion(a: Version | undefined, b: Version | undefined): boolean {
  return a !== undefined && b !== undefined && a.mode === b.mode && a.oid === b.oid;
}

/** The mode as git writes it today; older programs set further bits. */
export function canonicalMode(mode: number): number {
  if (isTreeMode(mode)) return MODE_TREE;
  if (isSymlinkMode(mode)) return MODE_SYMLINK;
  if (!isRegularMode(mode)) return MODE_SUBMODULE;
  return (mode & 0o100) === 0 ? MODE_FILE : MODE_EXECUTABLE;
}

export const isSameType = (a: number, b: number): boolean => (a & MODE_TYPE) === (b & MODE_TYPE);

/** The directory of a path; "" for the root. */
export function directoryOf(path: string): ByteText {
  const slash = path.lastIndexOf("/");
  return (slash < 0 ? "" : path.slice(0, slash)) as ByteText;
}

/** A path without its directory. */
export function nameOf(path: string): ByteText {
  return path.slice(path.lastIndexOf("/") + 1) as ByteText;
}
