import { GitError } from "../error.ts";
import { compareTrees } from "../object/compare-trees.ts";
import { isSubmoduleMode } from "../object/tree.ts";
import { OID_BYTES } from "../oid.ts";
import { TREE } from "../object/kind.ts";
import type { MergedObjects } from "./merged-objects.ts";
import { NO_ENTRY } from "../pack/pack-table.ts";

/** Hints about similar objects, from the trees of a history. */
export interface PathHints {
  /**
   * Hash of the path at which an object was first found. Paths with the same ending have close
   * hashes.
   */
  readonly pathHashes: Uint32Array;
  /**
   * Object at the same path in the previous commit, `NO_ENTRY` if there is none or it is unknown.
   */
  readonly predecessors: Int32Array;
}

export interface PathHintOptions {
  /** Objects of packs before this one get no hints, but may be predecessors. */
  readonly packsFrom: number;
  /**
   * Maximum size of all trees read together, in bytes; objects in the remaining trees get no hints.
   */
  readonly treeBytesMax: number;
  /** True once the read budget is exhausted. */
  isExhausted(): boolean;
  /** Reads the content of an object. */
  read(object: number): Promise<Uint8Array>;
}

/**
 * Walks the trees of commits, older ones first and each tree once, in parallel with the same
 * directory of the first parent. Subtrees that are equal on both sides are not read.
 */
export async function readPathHints(
  objects: MergedObjects,
  options: PathHintOptions,
): Promise<PathHints> {
  const walk = new PathWalk(objects, options);
  for (const { commit, root, parent, parentRoot } of listCommits(objects, options.packsFrom)) {
    walk.record(commit, parent, 0);
    await walk.visit(root, parentRoot);
    if (walk.isOverLimit) break;
  }
  return walk;
}

interface CommitRoots {
  readonly commit: number;
  readonly root: number;
  /**
   * The first parent and its root tree, each `NO_ENTRY` if there is none or it is in none of the
   * packs.
   */
  readonly parent: number;
  readonly parentRoot: number;
}

/** Lists the commits of packs from `packsFrom` on, by pack, and within each pack by generation. */
function* listCommits(objects: MergedObjects, packsFrom: number): Generator<CommitRoots> {
  const roots = new Map<number, number>();
  for (const [pack, { idx, sidecar }] of objects.packs.entries()) {
    const objectsOf = objects.objects[pack] as Uint32Array;
    const toObject = (ref: number): number =>
      ref < idx.count
        ? (objectsOf[ref] as number)
        : objects.find(sidecar.outsideOids, (ref - idx.count) * OID_BYTES);
    for (const [row, position] of sidecar.commits.entries()) {
      roots.set(objectsOf[position] as number, toObject(sidecar.roots[row] as number));
    }
    if (pack < packsFrom) continue;
    const { generations, parentStarts, parents } = sidecar;
    const rows = Uint32Array.from(sidecar.commits, (_, row) => row);
    rows.sort((a, b) => (generations[a] as number) - (generations[b] as number));
    for (const row of rows) {
      const commit = objectsOf[sidecar.commits[row] as number] as number;
      const first = parentStarts[row] as number;
      const hasParent = first < (parentStarts[row + 1] as number);
      const parent = hasParent ? toObject(parents[first] as number) : NO_ENTRY;
      const parentRoot = roots.get(parent) ?? NO_ENTRY;
      yield { commit, root: roots.get(commit) ?? NO_ENTRY, parent, parentRoot };
    }
  }
}

class PathWalk implements PathHints {
  readonly pathHashes: Uint32Array;
  readonly predecessors: Int32Array;
  private readonly objects: MergedObjects;
  private readonly options: PathHintOptions;
  private readonly isMet: Uint8Array;
  private treeBytes = 0;

  constructor(objects: MergedObjects, options: PathHintOptions) {
    this.objects = objects;
    this.options = options;
    this.pathHashes = new Uint32Array(objects.count);
    this.predecessors = new Int32Array(objects.count).fill(NO_ENTRY);
    this.isMet = new Uint8Array(objects.count);
  }

  get isOverLimit(): boolean {
    return this.treeBytes > this.options.treeBytesMax || this.options.isExhausted();
  }

  /** Records the hints of an object; false if it has hints already, or gets none. */
  record(object: number, predecessor: number, pathHash: number): boolean {
    const { objects, isMet } = this;
    if (object < 0 || isMet[object] === 1) return false;
    if ((objects.homes[object] as number) < this.options.packsFrom) return false;
    isMet[object] = 1;
    this.pathHashes[object] = pathHash;
    if (predecessor >= 0 && objects.kinds[predecessor] === objects.kinds[object]) {
      this.predecessors[object] = predecessor;
    }
    return true;
  }

  /** Records hints for the new objects of a tree, compared with the previous tree. */
  async visit(root: number, rootBefore: number): Promise<void> {
    if (!this.record(root, rootBefore, 0)) return;
    const stack = [{ tree: root, before: rootBefore }];
    for (let item = stack.pop(); item && !this.isOverLimit; item = stack.pop()) {
      const content = await this.read(item.tree);
      const contentBefore = item.before < 0 ? undefined : await this.read(item.before);
      if (!content) continue;
      const parentHash = this.pathHashes[item.tree] as number;
      for (const { object, predecessor, pathHash } of this.compare(
        contentBefore ?? new Uint8Array(0),
        content,
        parentHash,
      )) {
        if (!this.record(object, predecessor, pathHash)) continue;
        if (this.objects.kinds[object] === TREE) {
          stack.push({ tree: object, before: this.predecessors[object] as number });
        }
      }
    }
  }

  private compare(
    before: Uint8Array,
    content: Uint8Array,
    parentHash: number,
  ): { object: number; predecessor: number; pathHash: number }[] {
    const predecessors = new Map<number, number>();
    const added: { object: number; pathHash: number }[] = [];
    compareTrees(
      before,
      content,
      (mode, oidOffset, start) => {
        if (isSubmoduleMode(mode)) return;
        const pathHash = hashPath(parentHash, before, start, oidOffset);
        predecessors.set(pathHash, this.objects.find(before, oidOffset));
      },
      (mode, oidOffset, start) => {
        if (isSubmoduleMode(mode)) return;
        const object = this.objects.find(content, oidOffset);
        added.push({ object, pathHash: hashPath(parentHash, content, start, oidOffset) });
      },
    );
    return added.map(({ object, pathHash }) => ({
      object,
      predecessor: predecessors.get(pathHash) ?? NO_ENTRY,
      pathHash,
    }));
  }

  /**
   * Returns a tree's content; undefined for an object that is not a tree or is too large to be read
   * into memory.
   */
  private async read(tree: number): Promise<Uint8Array | undefined> {
    this.treeBytes += this.objects.sizes[tree] as number;
    if (this.objects.kinds[tree] !== TREE) return undefined;
    try {
      return await this.options.read(tree);
    } catch (error) {
      if (error instanceof GitError && error.code === "limit") return undefined;
      throw error;
    }
  }
}

/**
 * Continues the hash of a directory's path with a slash and the name of the entry at `start`. The
 * last sixteen bytes weigh most, so that files of the same name in different directories are
 * neighbours.
 *
 * @see `pack_name_hash` in git's pack-objects.h, which this implements.
 */
function hashPath(parentHash: number, tree: Uint8Array, start: number, oidOffset: number): number {
  let hash = parentHash === 0 ? 0 : addByte(parentHash, 0x2f);
  const nameStart = tree.indexOf(0x20, start) + 1;
  for (let at = nameStart; at < oidOffset - 1; at++) hash = addByte(hash, tree[at] as number);
  return hash;
}

function addByte(hash: number, byte: number): number {
  const isSpace = byte === 0x20 || (byte >= 9 && byte <= 13);
  return isSpace ? hash : ((hash >>> 2) + (byte << 24)) >>> 0;
}
