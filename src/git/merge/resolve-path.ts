import { isRegularMode } from "../object/tree.ts";
import type { ByteText } from "../byte-text.ts";
import { mergeFile } from "./merge-file.ts";
import {
  ALL_MASK,
  BASE,
  BASE_MASK,
  isSameType,
  makeMergePath,
  type MergePath,
  OUR_MASK,
  OURS,
  presence,
  type Side,
  THEIR_MASK,
  THEIRS,
  type Version,
} from "./merge-path.ts";
import type { ConflictKind, MergeState } from "./merge-state.ts";

/** Sets the entry at a path of the result; undefined removes it. */
type Put = (path: ByteText, version: Version | undefined) => void;

/** Determines the result of a merge path by path. */
export class PathResolver {
  /** The entries that could not be merged, by their path in the result. */
  readonly conflicted = new Map<ByteText, MergePath>();
  private readonly state: MergeState;

  constructor(state: MergeState) {
    this.state = state;
  }

  /**
   * Resolves one path.
   *
   * @param hasTree Whether the result has a directory at the path. A remaining file is then moved
   *   aside.
   */
  async resolve(path: ByteText, entry: MergePath, hasTree: boolean, put: Put): Promise<void> {
    const present = presence(entry.files);
    if (present === 0 || (hasTree && present === BASE_MASK)) return;
    if (!hasTree) {
      await this.resolveFile(path, entry, undefined, put);
      return;
    }
    const side = entry.trees[OURS] === undefined ? OURS : THEIRS;
    const aside = this.findFreePath(path, side);
    this.state.paths.set(aside, entry);
    await this.resolveFile(aside, entry, side, put);
    // If the file was deleted cleanly, there is no conflict with the directory.
    if (this.conflicted.has(aside)) this.addConflict(aside, "file-directory");
  }

  /** @param asideSide The side whose file was moved aside, if one was. */
  private async resolveFile(
    path: ByteText,
    entry: MergePath,
    asideSide: Side | undefined,
    put: Put,
  ): Promise<void> {
    const [base, ours, theirs] = entry.files;
    const isUnclean = asideSide !== undefined || entry.hasPathConflict;
    if (entry.sameMask !== 0) {
      // Only one side changed the file, or both made the same change.
      const changed =
        entry.sameMask === (OUR_MASK | THEIR_MASK) ? OUR_MASK : ALL_MASK & ~entry.sameMask;
      const version = changed === OUR_MASK ? ours : theirs;
      this.finish(path, entry, version, !isUnclean || version === undefined, put);
    } else if (ours && theirs && !isSameType(ours.mode, theirs.mode)) {
      this.separate(path, entry, ours, theirs, put);
    } else if (ours && theirs) {
      const { objects, options } = this.state;
      const versions = [base, ours, theirs] as const;
      const extraChars = 2 * options.depth;
      const merge = await mergeFile(objects, versions, entry.origins, extraChars, options);
      if (merge.conflict) {
        const isAdded = base === undefined && merge.conflict !== "submodule";
        this.addConflict(path, isAdded ? "add-add" : merge.conflict);
      } else if (asideSide !== undefined) {
        entry.files.fill(undefined);
        entry.files[asideSide] = merge.version;
      }
      this.finish(path, entry, merge.version, !merge.conflict && !isUnclean, put);
    } else if (base && (ours ?? theirs)) {
      const left = ours ?? theirs;
      if (!entry.hasPathConflict || base.oid !== left?.oid) this.addConflict(path, "modify-delete");
      // Within a merge of merge bases, the base version is kept.
      this.finish(path, entry, this.state.options.depth === 0 ? left : base, false, put);
    } else {
      this.finish(path, entry, ours ?? theirs, !isUnclean, put);
    }
  }

  /** Keeps both of two entries of different types, one or both under a new name. */
  private separate(
    path: ByteText,
    entry: MergePath,
    ours: Version,
    theirs: Version,
    put: Put,
  ): void {
    const base = entry.files[BASE];
    this.addConflict(path, "type");
    if (this.state.options.depth > 0) {
      this.finish(path, entry, base, false, put);
      return;
    }
    const isOurAside = isRegularMode(ours.mode) || !isRegularMode(theirs.mode);
    const isTheirAside = !isRegularMode(ours.mode);
    const ourPath = isOurAside ? this.findFreePath(path, OURS) : path;
    const theirPath = isTheirAside ? this.findFreePath(path, THEIRS) : path;
    if (isOurAside && isTheirAside) put(path, undefined);
    for (const [side, at, version] of [
      [OURS, ourPath, ours],
      [THEIRS, theirPath, theirs],
    ] as const) {
      const half = makeMergePath(at);
      half.files[side] = version;
      if (base && isSameType(base.mode, version.mode)) half.files[BASE] = base;
      this.state.paths.set(at, half);
      this.finish(at, half, version, false, put);
    }
  }

  private finish(
    path: ByteText,
    entry: MergePath,
    version: Version | undefined,
    isClean: boolean,
    put: Put,
  ): void {
    if (!isClean) this.conflicted.set(path, entry);
    put(path, version);
  }

  /** A free path for a file that is moved aside; it contains the label of the file's side. */
  private findFreePath(path: ByteText, side: Side): ByteText {
    const { labels } = this.state.options;
    const label = (side === OURS ? labels.ours : labels.theirs).replaceAll("/", "_");
    const aside = `${path}~${label}` as ByteText;
    let free = aside;
    for (let number = 0; this.state.paths.has(free); number++)
      free = `${aside}_${number}` as ByteText;
    return free;
  }

  private addConflict(path: ByteText, kind: ConflictKind): void {
    this.state.conflicts.push({ path, kind });
  }
}
