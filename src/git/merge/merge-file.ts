import type { Budget } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import { isBinary } from "../diff/line-diff.ts";
import { missing } from "../error.ts";
import { isSubmoduleMode, isRegularMode } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import { type ConflictStyle, hasConflict, mergeLines } from "./merge-lines.ts";
import { isSameType, type ThreeWay, type Version } from "./merge-path.ts";
import { type ConflictLabels, mergedText } from "./merged-text.ts";
import type { NewObjects } from "./new-objects.ts";

/** Maximum lines of a text that is merged: a bound on the time that hostile texts can take. */
const LINES_MAX = 250_000;

export interface FileMergeOptions {
  readonly labels: ConflictLabels;
  readonly style: ConflictStyle;
  /**
   * Largest content that is merged by lines, in bytes. Content that is larger or has too many lines
   * is binary.
   */
  readonly contentBytesMax: number;
  /** Bounds the work of merging by lines. */
  readonly budget: Budget;
  /** Nesting depth within merges of merge bases; 0 for the requested merge. */
  readonly depth: number;
}

/** The result of merging two versions of a file. */
export interface FileMerge {
  /**
   * The merged version; with a conflict, one with conflict markers or one side's. Undefined for no
   * file.
   */
  readonly version: Version | undefined;
  /** Why the merge is not clean; undefined if it is. */
  readonly conflict: "content" | "binary" | "mode" | "submodule" | undefined;
}

/**
 * Merges both sides' versions of a file, symlink or submodule. Both sides must have the same type;
 * the base may have another type or be missing.
 *
 * For symlinks and submodules one version is chosen: a symlink has no lines to merge, and the
 * commits of a submodule are in another repository.
 *
 * @param origins The paths of the three versions, appended to the labels if they differ.
 * @param extraChars How many characters longer than usual the conflict markers are.
 * @throws GitError `missing` if a blob does not exist, `limit` if the work exceeds the budget.
 */
export async function mergeFile(
  objects: NewObjects,
  versions: readonly [base: Version | undefined, ours: Version, theirs: Version],
  origins: ThreeWay<ByteText>,
  extraChars: number,
  options: FileMergeOptions,
): Promise<FileMerge> {
  const [base, ours, theirs] = versions;
  const isModeConflict =
    ours.mode !== theirs.mode && ours.mode !== base?.mode && theirs.mode !== base?.mode;
  const mode = ours.mode === theirs.mode || ours.mode === base?.mode ? theirs.mode : ours.mode;
  const conflict = isModeConflict ? "mode" : undefined;
  if (ours.oid === theirs.oid || ours.oid === base?.oid) {
    return { version: { mode, oid: theirs.oid }, conflict };
  }
  if (theirs.oid === base?.oid) return { version: { mode, oid: ours.oid }, conflict };

  const hasBase = base !== undefined && isSameType(base.mode, ours.mode);
  if (isRegularMode(ours.mode)) {
    const oids = [hasBase ? base.oid : undefined, ours.oid, theirs.oid] as const;
    const merged = await mergeContent(objects, oids, origins, extraChars, options);
    return { version: { mode, oid: merged.oid }, conflict: merged.conflict ?? conflict };
  }
  const kind = isSubmoduleMode(ours.mode) ? "submodule" : "content";
  if (options.depth === 0) return { version: { mode, oid: ours.oid }, conflict: kind };
  // Within a merge of merge bases, the base version is kept.
  const version = kind === "submodule" && hasBase ? { mode, oid: base.oid } : base;
  return { version, conflict: kind };
}

async function mergeContent(
  objects: NewObjects,
  oids: readonly [base: Oid | undefined, ours: Oid, theirs: Oid],
  origins: ThreeWay<ByteText>,
  extraChars: number,
  options: FileMergeOptions,
): Promise<{ oid: Oid; conflict: "content" | "binary" | undefined }> {
  const [baseOid, ourOid, theirOid] = oids;
  const base = baseOid === undefined ? new Uint8Array(0) : await readBlob(objects, baseOid);
  const ours = await readBlob(objects, ourOid);
  const theirs = await readBlob(objects, theirOid);
  const isText = [base, ours, theirs].every(
    (content) =>
      content.length <= options.contentBytesMax && !isBinary(content) && !hasTooManyLines(content),
  );
  if (!isText) {
    if (options.depth === 0) return { oid: ourOid, conflict: "binary" };
    return { oid: baseOid ?? objects.add("blob", base), conflict: undefined };
  }
  await options.budget.pause();
  const merge = await mergeLines(base, ours, theirs, options.style, options.budget);
  const labels = labelsFor(options.labels, origins);
  const oid = objects.add("blob", mergedText(merge, labels, options.style, extraChars), oids);
  return { oid, conflict: hasConflict(merge) ? "content" : undefined };
}

function hasTooManyLines(content: Uint8Array): boolean {
  let lines = 0;
  for (let at = content.indexOf(0x0a); at >= 0 && lines <= LINES_MAX; lines++) {
    at = content.indexOf(0x0a, at + 1);
  }
  return lines > LINES_MAX;
}

async function readBlob(objects: ObjectReader, oid: Oid): Promise<Uint8Array> {
  const found = await objects.readObject(oid);
  if (found?.kind !== "blob") throw missing(`blob ${oid}`);
  return found.content;
}

function labelsFor(
  labels: ConflictLabels,
  [base, ours, theirs]: ThreeWay<ByteText>,
): ConflictLabels {
  if (base === ours && ours === theirs) return labels;
  return {
    base: `${labels.base}:${base}` as ByteText,
    ours: `${labels.ours}:${ours}` as ByteText,
    theirs: `${labels.theirs}:${theirs}` as ByteText,
  };
}
