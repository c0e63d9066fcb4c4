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

// A set of sides as bits: `maskOf` of each.
export const BASE_MASK = 1;
export const OUR_MASK = 2;
export const THEIR_MASK = 4;
export const ALL_MASK = 7;
export const maskOf = (side: 0 | Side): number => 1 << side;

/** One value for each side: base, ours, theirs. */
export type ThreeWay<T> = [T, T, T];

/** What stands at a path on one side. */
export interface Version {
  readonly mode: number;
  readonly oid: Oid;
}

/** What is known of one path while three trees are merged. */
export interface MergePath {
  /** The file, link or submodule there on each side. */
  readonly files: ThreeWay<Version | undefined>;
  /** The directory there on each side. */
  readonly trees: ThreeWay<Oid | undefined>;
  /** Where each of `files` came from, if not from this path. */
  readonly origins: ThreeWay<ByteText>;
  /** Sides that were found to have the same file here, 0 for none. */
  sameMask: number;
  /** True if something beside its content is in conflict. */
  hasPathConflict: boolean;
  isResolved: boolean;
  /** What it is resolved to; undefined for nothing. */
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

/** The sides that have something. */
export function presence(values: ThreeWay<unknown>): number {
  const bit = (at: number): number => (values[at] === undefined ? 0 : 1 << at);
  return bit(0) | bit(1) | bit(2);
}

export function isSameVersion(a: Version | undefined, b: Version | undefined): boolean {
  return a !== undefined && b !== undefined && a.mode === b.mode && a.oid === b.oid;
}

/** Mode as git writes it: older programs wrote more bits. */
export function canonicalMode(mode: number): number {
  if (isTreeMode(mode)) return MODE_TREE;
  if (isSymlinkMode(mode)) return MODE_SYMLINK;
  if (!isRegularMode(mode)) return MODE_SUBMODULE;
  return (mode & 0o100) === 0 ? MODE_FILE : MODE_EXECUTABLE;
}

export const isSameType = (a: number, b: number): boolean => (a & MODE_TYPE) === (b & MODE_TYPE);

/** The directory of a path, "" for the root. */
export function directoryOf(path: string): ByteText {
  const slash = path.lastIndexOf("/");
  return (slash < 0 ? "" : path.slice(0, slash)) as ByteText;
}

/** A path without its directory. */
export function nameOf(path: string): ByteText {
  return path.slice(path.lastIndexOf("/") + 1) as ByteText;
}
