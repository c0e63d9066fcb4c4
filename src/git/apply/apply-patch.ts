import { type ByteText, encodeUtf8, readByteText } from "../byte-text.ts";
import { corrupt, GitError, missing, overLimit } from "../error.ts";
import { hashObject } from "../object/hash-object.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_SUBMODULE,
  MODE_SYMLINK,
  MODE_TYPE,
} from "../object/tree.ts";
import type { DraftEntry, TreeDraft } from "../tree-draft.ts";
import { isOid, NULL_OID, type Oid } from "../oid.ts";
import { applyDelta, readDeltaHeader } from "../pack/delta.ts";
import { Inflater } from "../zlib/inflate.ts";
import { applyHunks } from "./apply-hunks.ts";
import type { ObjectReader } from "../store.ts";
import type { BinaryHunk, FilePatch } from "./file-patch.ts";

/** Contents that are read and made at most, in bytes together. */
const CONTENT_BYTES_MAX = 32 * 1024 * 1024;

/** A file that is patched. The content of a submodule is `Subproject commit <oid>` and a line feed. */
interface PatchedFile {
  readonly mode: number;
  readonly content: Uint8Array;
}

/** Where files are read and written. */
export interface PatchedTree {
  readonly tree: TreeDraft;
  readonly objects: ObjectReader;
  /** Takes the content of a file and answers its id. */
  readonly write: (content: Uint8Array) => Oid;
}

/**
 * Applies the patches of several files to a tree as `git apply --cached` does: all of them or none,
 * each at places that fit exactly. The tree is of no use if this throws.
 *
 * What is copied or renamed is what was there before; any other patch of a file that was patched
 * already goes on with that.
 *
 * SECURITY: of an object that a patch merely names nothing is ever read. Git takes a new content
 * from its store if it has it; here it might be somebody else's. The names are the caller's to check.
 *
 * @throws GitError `corrupt` if a patch does not apply, in git's own words; `limit` for more than
 * memory has room for.
 * @see git-apply(1)
 */
export async function applyPatch(place: PatchedTree, patches: readonly FilePatch[]): Promise<void> {
  const applier = new Applier(place, patches);
  for (const patch of patches) await applier.apply(patch);
  await applier.write();
}

/** A path of which the patch has taken, or will take, what was there. */
type Gone = "removed" | "to-be-removed";

class Applier {
  private readonly place: PatchedTree;
  private readonly removed: ByteText[] = [];
  private readonly put = new Map<ByteText, PatchedFile>();
  private readonly states = new Map<ByteText, PatchedFile | Gone>();
  private readonly inflater = new Inflater();
  private bytesLeft = CONTENT_BYTES_MAX;

  constructor(place: PatchedTree, patches: readonly FilePatch[]) {
    this.place = place;
    for (const { kind, oldName } of patches) {
      const isGoing = kind === "delete" || kind === "rename";
      if (isGoing && oldName !== undefined) this.states.set(oldName, "to-be-removed");
    }
  }

  async apply(patch: FilePatch): Promise<void> {
    const { oldName, newName } = patch;
    const found = oldName === undefined ? undefined : await this.findOld(patch, oldName);
    const { kind } = patch;
    const isNew = kind === "create" || (oldName !== undefined && !found);
    if (newName !== undefined && (isNew || kind === "rename" || kind === "copy")) {
      await this.checkFree(newName);
    }
    const name = oldName ?? newName ?? ("" as ByteText);
    const newMode = plainMode(patch.newMode ?? (found ? found.mode : MODE_FILE));
    if (found) checkModes(patch, found.mode, newMode);

    const old = found?.content ?? new Uint8Array();
    const content = this.change(patch, name, old);
    if (kind === "delete" && content.length > 0) {
      throw corrupt(`removal patch leaves file contents: ${name}: patch does not apply`);
    }
    this.note(patch, { mode: newMode, content });
  }

  /** What a patch changes; undefined for a file that it creates after all. */
  private async findOld(patch: FilePatch, name: ByteText): Promise<PatchedFile | undefined> {
    const known = this.states.get(name);
    const isOriginal = patch.kind === "copy" || patch.kind === "rename";
    if (!isOriginal && known === "removed") throw corrupt(`path ${name} has been renamed/deleted`);
    if (!isOriginal && known !== undefined && typeof known !== "string") return known;
    const entry = await this.find(name);
    if (!entry) {
      if (!patch.isCertain) return undefined;
      throw corrupt(`${name}: does not exist in index`);
    }
    if (isSubmoduleMode(entry.mode)) {
      return { mode: entry.mode, content: encodeUtf8(`Subproject commit ${entry.oid}\n`) };
    }
    const stored = await this.place.objects.readObject(entry.oid);
    if (stored?.kind !== "blob") throw missing(`blob ${entry.oid}`);
    this.spend(stored.content.length);
    return { mode: entry.mode, content: stored.content };
  }

  /** What stands at a path and is no directory. */
  private async find(name: ByteText): Promise<DraftEntry | undefined> {
    const entry = await this.place.tree.find(splitPath(name));
    return entry && !isTreeMode(entry.mode) ? entry : undefined;
  }

  /** Takes away what goes, then puts what comes. */
  async write(): Promise<void> {
    const { tree, write } = this.place;
    for (const name of this.removed) {
      if (await this.find(name)) await tree.remove(splitPath(name));
    }
    for (const [name, file] of this.put) {
      const names = splitPath(name);
      const obstacle = await tree.findObstacle(names);
      if (obstacle) {
        const isBeyond = isSymlinkMode(obstacle.mode);
        const reason = isBeyond ? "is beyond a symbolic link" : "has something else in its way";
        throw corrupt(`affected file '${name}' ${reason}`);
      }
      const isLinked = isSubmoduleMode(file.mode);
      const oid = isLinked ? readSubmodule(file, name) : write(file.content);
      await tree.put(names, { mode: file.mode, oid });
    }
  }

  private async checkFree(name: ByteText): Promise<void> {
    if (typeof this.states.get(name) === "string") return;
    if (this.put.has(name) || (await this.find(name))) {
      throw corrupt(`${name}: already exists in index`);
    }
  }

  private change(patch: FilePatch, name: ByteText, old: Uint8Array): Uint8Array {
    try {
      if (patch.isBinary) return this.changeBinary(patch, name, old);
      if (patch.hunks.length === 0) return old;
      const content = applyHunks(old, patch.hunks, name);
      this.spend(content.length);
      return content;
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== "corrupt") throw error;
      throw corrupt(`${error.message}: ${name}: patch does not apply`);
    }
  }

  private changeBinary(patch: FilePatch, name: ByteText, old: Uint8Array): Uint8Array {
    const { oldOid = "", newOid = "", binary } = patch;
    if (!isOid(oldOid) || !isOid(newOid)) {
      throw corrupt(`cannot apply binary patch to '${name}' without full index line`);
    }
    if (patch.oldName === undefined) {
      if (old.length > 0) throw corrupt(`the patch applies to an empty '${name}'`);
    } else if (hashObject("blob", old) !== oldOid) {
      throw corrupt(
        `the patch applies to '${name}' (${oldOid}), which does not match the current contents`,
      );
    }
    if (newOid === NULL_OID) return new Uint8Array();
    if (!binary) throw corrupt(`missing binary patch data for '${name}'`);
    this.spend(binary.sizeBytes);
    const inflated = this.inflate(binary);
    const content = binary.kind === "literal" ? inflated : this.changeByDelta(old, inflated);
    const oid = hashObject("blob", content);
    if (oid !== newOid) {
      throw corrupt(
        `binary patch to '${name}' creates incorrect result (expecting ${newOid}, got ${oid})`,
      );
    }
    return content;
  }

  private inflate({ deflated, sizeBytes }: BinaryHunk): Uint8Array {
    const inflated = new Uint8Array(sizeBytes);
    const status = this.inflater.run(deflated, 0, deflated.length, inflated, 0, sizeBytes);
    const isWhole = status === "done" && this.inflater.outputOffset === sizeBytes;
    this.inflater.reset();
    if (!isWhole) throw corrupt("corrupt binary patch");
    return inflated;
  }

  private changeByDelta(old: Uint8Array, delta: Uint8Array): Uint8Array {
    const header = readDeltaHeader(delta);
    if (!header) throw corrupt("binary patch does not apply");
    this.spend(header.resultBytes);
    const content = new Uint8Array(header.resultBytes);
    applyDelta(old, delta, header, content);
    return content;
  }

  /** Keeps what has come of a patch, for others of the same files and for the end. */
  private note({ kind, oldName, newName }: FilePatch, file: PatchedFile): void {
    if (kind === "delete" && oldName !== undefined) this.put.delete(oldName);
    if (newName !== undefined) {
      this.put.set(newName, file);
      this.states.set(newName, file);
    }
    if ((kind === "delete" || kind === "rename") && oldName !== undefined) {
      this.removed.push(oldName);
      this.states.set(oldName, "removed");
    }
  }

  private spend(bytes: number): void {
    this.bytesLeft -= bytes;
    if (this.bytesLeft < 0) throw overLimit("the files are too large to be patched here");
  }
}

/** A mode as git keeps it. Git takes what is called a directory for a submodule, and anything else for a file. */
function plainMode(mode: number): number {
  if (isSymlinkMode(mode)) return MODE_SYMLINK;
  if (isSubmoduleMode(mode) || isTreeMode(mode)) return MODE_SUBMODULE;
  return (mode & 0o100) === 0 ? MODE_FILE : MODE_EXECUTABLE;
}

/** A patch may change what a file permits, not what it is. */
function checkModes({ oldName, newName, oldMode }: FilePatch, mode: number, newMode: number): void {
  const kindOf = (each: number): number => each & MODE_TYPE;
  if (kindOf(oldMode ?? mode) !== kindOf(mode)) throw corrupt(`${oldName}: wrong type`);
  if (newName !== undefined && kindOf(newMode) !== kindOf(mode)) {
    const [is, was] = [newMode, mode].map((each) => each.toString(8));
    throw corrupt(`new mode (${is}) of ${newName} does not match old mode (${was})`);
  }
}

const splitPath = (name: ByteText): ByteText[] => name.split("/") as ByteText[];

/** The commit that the content of a patched submodule names. */
function readSubmodule({ content }: PatchedFile, name: ByteText): Oid {
  const [, oid = ""] = /^Subproject commit ([0-9a-f]{40})\s*$/.exec(readByteText(content)) ?? [];
  if (oid === "") throw corrupt(`corrupt patch for submodule ${name}`);
  return oid;
}
