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

/** Maximum total bytes of the contents that are read and created. */
const CONTENT_BYTES_MAX = 32 * 1024 * 1024;

/** A patched file. The content of a submodule is `Subproject commit <oid>` and a line feed. */
interface PatchedFile {
  readonly mode: number;
  readonly content: Uint8Array;
}

/** The tree to patch, with access to its objects. */
export interface PatchedTree {
  readonly tree: TreeDraft;
  readonly objects: ObjectReader;
  /** Stores the content of a file and returns its id. */
  readonly write: (content: Uint8Array) => Oid;
}

/**
 * Applies the patches of several files to a tree as `git apply --cached` does: all or none, each
 * hunk only where its lines match exactly. If this throws, the tree must be discarded.
 *
 * A copy or rename starts from the original content of its source; any other patch of an already
 * patched file starts from the patched content.
 *
 * SECURITY: an object is never read just because a patch contains its id. Git takes the new content
 * from its object store if the object exists there; here the store may hold objects that the
 * patch's author may not read. The caller must check the file names.
 *
 * @throws GitError `corrupt` if a patch does not apply, with git's message; `missing` if a blob of
 * the tree does not exist; `limit` if the contents exceed the memory bound.
 * @see git-apply(1)
 */
export async function applyPatch(
  target: PatchedTree,
  patches: readonly FilePatch[],
): Promise<void> {
  const applier = new Applier(target, patches);
  for (const patch of patches) await applier.apply(patch);
  await applier.write();
}

/** The state of a path whose file the patch has removed or will remove. */
type Removal = "removed" | "to-be-removed";

class Applier {
  private readonly target: PatchedTree;
  private readonly removed: ByteText[] = [];
  private readonly put = new Map<ByteText, PatchedFile>();
  private readonly states = new Map<ByteText, PatchedFile | Removal>();
  private readonly inflater = new Inflater();
  private bytesLeft = CONTENT_BYTES_MAX;

  constructor(target: PatchedTree, patches: readonly FilePatch[]) {
    this.target = target;
    for (const { kind, oldName } of patches) {
      const isRemoved = kind === "delete" || kind === "rename";
      if (isRemoved && oldName !== undefined) this.states.set(oldName, "to-be-removed");
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
    this.record(patch, { mode: newMode, content });
  }

  /** The file that a patch changes; undefined if the patch turns out to create it. */
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
    const stored = await this.target.objects.readObject(entry.oid);
    if (stored?.kind !== "blob") throw missing(`blob ${entry.oid}`);
    this.consume(stored.content.length);
    return { mode: entry.mode, content: stored.content };
  }

  /** The entry at a path; undefined if there is none or it is a directory. */
  private async find(name: ByteText): Promise<DraftEntry | undefined> {
    const entry = await this.target.tree.find(splitPath(name));
    return entry && !isTreeMode(entry.mode) ? entry : undefined;
  }

  /** Removes the removed files from the tree, then writes the new and changed files. */
  async write(): Promise<void> {
    const { tree, write } = this.target;
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
      this.consume(content.length);
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
    this.consume(binary.sizeBytes);
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
    const isComplete = status === "done" && this.inflater.outputOffset === sizeBytes;
    this.inflater.reset();
    if (!isComplete) throw corrupt("corrupt binary patch");
    return inflated;
  }

  private changeByDelta(old: Uint8Array, delta: Uint8Array): Uint8Array {
    const header = readDeltaHeader(delta);
    if (!header) throw corrupt("binary patch does not apply");
    this.consume(header.resultBytes);
    const content = new Uint8Array(header.resultBytes);
    applyDelta(old, delta, header, content);
    return content;
  }

  /** Records the result of a patch, for later patches of the same files and for `write`. */
  private record({ kind, oldName, newName }: FilePatch, file: PatchedFile): void {
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

  private consume(bytes: number): void {
    this.bytesLeft -= bytes;
    if (this.bytesLeft < 0) throw overLimit("the files are too large to be patched here");
  }
}

/**
 * A mode as git stores it. Git treats the mode of a directory as a submodule, and unknown modes as
 * a file.
 */
function plainMode(mode: number): number {
  if (isSymlinkMode(mode)) return MODE_SYMLINK;
  if (isSubmoduleMode(mode) || isTreeMode(mode)) return MODE_SUBMODULE;
  return (mode & 0o100) === 0 ? MODE_FILE : MODE_EXECUTABLE;
}

/** Checks that a patch changes at most the permissions of a file, not its type. */
function checkModes({ oldName, newName, oldMode }: FilePatch, mode: number, newMode: number): void {
  const kindOf = (each: number): number => each & MODE_TYPE;
  if (kindOf(oldMode ?? mode) !== kindOf(mode)) throw corrupt(`${oldName}: wrong type`);
  if (newName !== undefined && kindOf(newMode) !== kindOf(mode)) {
    const [is, was] = [newMode, mode].map((each) => each.toString(8));
    throw corrupt(`new mode (${is}) of ${newName} does not match old mode (${was})`);
  }
}

const splitPath = (name: ByteText): ByteText[] => name.split("/") as ByteText[];

/** The commit id in the content of a patched submodule. */
function readSubmodule({ content }: PatchedFile, name: ByteText): Oid {
  const [, oid = ""] = /^Subproject commit ([0-9a-f]{40})\s*$/.exec(readByteText(content)) ?? [];
  if (oid === "") throw corrupt(`corrupt patch for submodule ${name}`);
  return oid;
}
