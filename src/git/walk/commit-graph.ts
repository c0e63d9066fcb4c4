import type { Budget } from "../budget.ts";
import type { Oid } from "../oid.ts";
import { formatOid, OID_BYTES, oidBytes } from "../oid.ts";
import {
  countObjects,
  historyOf,
  type ObjectLocation,
  type PackCatalog,
} from "../catalog/pack-catalog.ts";
import { resident } from "../catalog/block-pool.ts";
import type { Sidecar } from "../sidecar/sidecar-file.ts";

/** Stands for a commit that is in no pack. */
export const NO_NODE = -1;

/** Introduced objects that are visited together, and steps for each of them. */
const VISITED_TOGETHER = 250;
const VISITED_STEPS = 100;

/** The number of a commit in the graph. */
export type Node = number;

/**
 * All commits of a repository, loaded from the sidecars of its packs: about 40 bytes per commit,
 * without reading any object.
 *
 * A commit in several packs is represented by its row in the oldest pack; its other rows are never
 * reached.
 */
export class CommitGraph {
  readonly count: number;
  /** Committer time of each node, in seconds since 1970. */
  readonly times: Float64Array;
  /** Generation number of each node: larger than that of any parent. */
  readonly generations: Uint32Array;
  private readonly catalog: PackCatalog;
  /** The first node of each pack; one more element holds the end of the last pack. */
  private readonly firsts: Uint32Array;
  private readonly parentStarts: Uint32Array;
  private readonly parentNodes: Int32Array;

  /** @param known The graph of another catalog of the same packs, whose tables are shared. */
  constructor(catalog: PackCatalog, known?: CommitGraph) {
    this.catalog = catalog;
    if (known) {
      ({
        count: this.count,
        times: this.times,
        generations: this.generations,
        firsts: this.firsts,
        parentStarts: this.parentStarts,
        parentNodes: this.parentNodes,
      } = known);
      return;
    }
    const { packs } = catalog;
    this.firsts = new Uint32Array(packs.length + 1);
    let parentCount = 0;
    for (const [pack, each] of packs.entries()) {
      const { commits, parents } = historyOf(each);
      this.firsts[pack + 1] = (this.firsts[pack] as number) + commits.length;
      parentCount += parents.length;
    }
    this.count = this.firsts[packs.length] as number;
    this.times = new Float64Array(this.count);
    this.generations = new Uint32Array(this.count);
    this.parentStarts = new Uint32Array(this.count + 1);
    this.parentNodes = new Int32Array(parentCount);

    let parentEnd = 0;
    for (const [pack, each] of packs.entries()) {
      const first = this.firsts[pack] as number;
      const { times, generations, commits, parents, parentStarts } = historyOf(each);
      this.times.set(times, first);
      this.generations.set(generations, first);
      for (let row = 0; row < commits.length; row++) {
        const end = parentStarts[row + 1] as number;
        for (let at = parentStarts[row] as number; at < end; at++) {
          this.parentNodes[parentEnd++] = this.nodeOfRef(pack, parents[at] as number);
        }
        this.parentStarts[first + row + 1] = parentEnd;
      }
    }
    if (!this.areGenerationsSound()) this.countGenerations();
  }

  /** Size of the tables in bytes. */
  get heldBytes(): number {
    const { times, generations, parentStarts, parentNodes } = this;
    return [times, generations, parentStarts, parentNodes].reduce(
      (sum, { byteLength }) => sum + byteLength,
      0,
    );
  }

  /** The node of a commit; `NO_NODE` if the object is in no pack or is not a commit. */
  find(commitOid: Oid): Node {
    if (this.catalog.isByBlock) return this.findCommit(oidBytes(commitOid), 0);
    const location = this.catalog.find(commitOid);
    return location ? this.nodeAt(location) : NO_NODE;
  }

  /** The node of the commit at a location; `NO_NODE` if the object is not a commit. */
  nodeAt({ pack, position }: ObjectLocation): Node {
    const { commits } = historyOf(this.catalog.pack(pack));
    let low = 0;
    let high = commits.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = commits[middle] as number;
      if (found === position) return (this.firsts[pack] as number) + middle;
      if (found < position) low = middle + 1;
      else high = middle - 1;
    }
    return NO_NODE;
  }

  location(node: Node): ObjectLocation {
    const { pack, row } = this.rowOf(node);
    const position = historyOf(this.catalog.pack(pack)).commits[row] as number;
    return { pack, position };
  }

  oid(node: Node): Oid {
    const { pack, row } = this.rowOf(node);
    const { blocks } = this.catalog.pack(pack);
    return blocks
      ? formatOid(blocks.index.history.commitOids, row * OID_BYTES)
      : this.catalog.oid(this.location(node));
  }

  /**
   * Parents in the order the commit lists them, as a view. A parent that is in no pack is
   * `NO_NODE`.
   */
  parents(node: Node): Int32Array {
    return this.parentNodes.subarray(this.parentStarts[node], this.parentStarts[node + 1]);
  }

  /** The location of a commit's root tree; undefined if the tree is in no pack. */
  root(node: Node): ObjectLocation | undefined {
    const { pack, row } = this.rowOf(node);
    return this.locationOfRef(pack, historyOf(this.catalog.pack(pack)).roots[row] as number);
  }

  /** `root`, with the blocks that this needs. */
  loadRoot(node: Node): Promise<ObjectLocation | undefined> {
    return resident(() => this.root(node));
  }

  /** The id of a commit's root tree; undefined if the tree is in no pack. */
  rootOid(node: Node): Oid | undefined {
    const location = this.root(node);
    return location && this.catalog.oid(location);
  }

  /** `rootOid`, with the blocks that this needs. */
  loadRootOid(node: Node): Promise<Oid | undefined> {
    return resident(() => this.rootOid(node));
  }

  /**
   * Calls `visit` for each object that the commit introduces and that is in a pack.
   *
   * @param isTableHome Whether objects are named by `PackCatalog.tableHome` instead of their homes.
   */
  visitIntroduced(
    node: Node,
    visit: (location: ObjectLocation) => void,
    isTableHome = false,
  ): void {
    const { pack, row } = this.rowOf(node);
    for (const ref of this.introducedRefs(pack, row)) {
      const location = this.locationOfRef(pack, ref, isTableHome);
      if (location) visit(location);
    }
  }

  /**
   * `visitIntroduced`, with the blocks that this needs, for a commit that may introduce very many
   * objects: other work may run meanwhile. Objects are named by `PackCatalog.tableHome`.
   *
   * @param visit May receive an object twice.
   * @returns Undefined if the work is done.
   */
  visitIntroducedInPieces(
    node: Node,
    visit: (location: ObjectLocation) => void,
    budget: Budget,
  ): Promise<void> | undefined {
    const count = this.introducedCount(node);
    if (this.catalog.isByBlock || count > VISITED_TOGETHER) {
      return this.visitPieces(node, visit, budget);
    }
    this.visitIntroduced(node, visit, true);
    return budget.pause(VISITED_STEPS * (1 + count));
  }

  private async visitPieces(
    node: Node,
    visit: (location: ObjectLocation) => void,
    budget: Budget,
  ): Promise<void> {
    const { pack, row } = this.rowOf(node);
    const refs = await resident(() => this.introducedRefs(pack, row));
    for (let at = 0; at < refs.length; at += VISITED_TOGETHER) {
      const some = refs.subarray(at, at + VISITED_TOGETHER);
      await resident(() => {
        for (const ref of some) {
          const location = this.locationOfRef(pack, ref, true);
          if (location) visit(location);
        }
      });
      await budget.pause(VISITED_STEPS * some.length);
    }
  }

  /** The references of the objects that a pack's commit introduces. */
  private introducedRefs(pack: number, row: number): Uint32Array {
    const each = this.catalog.pack(pack);
    if (each.blocks) return each.blocks.introducedBy(row);
    const { introduced, introducedStarts } = each.sidecar;
    return introduced.subarray(introducedStarts[row], introducedStarts[row + 1]);
  }

  /** Loads the blocks that `visitIntroduced` needs for some commits, up to a limit. */
  async loadLists(nodes: readonly Node[]): Promise<void> {
    if (!this.catalog.isByBlock) return;
    const rows = new Map<number, number[]>();
    for (const node of nodes) {
      const { pack, row } = this.rowOf(node);
      const known = rows.get(pack);
      if (known) known.push(row);
      else rows.set(pack, [row]);
    }
    await this.catalog.loadLists(rows);
  }

  /**
   * Finds the commits that introduce a tree or blob, in no particular order.
   *
   * @returns The commits, and how many numbers were compared: all of the lists of all commits, in
   * the platform's own search of a typed array.
   */
  findIntroducing({ pack: home, position }: ObjectLocation): { nodes: Node[]; numbers: number } {
    const nodes: Node[] = [];
    const { oids } = this.catalog.pack(home).idx;
    const oidOffset = position * OID_BYTES;
    let numbers = 0;
    for (const [pack, { idx, sidecar }] of this.catalog.packs.entries()) {
      const { outsideOids } = sidecar;
      const inside = pack === home ? position : idx.find(oids, oidOffset);
      const outside = inside < 0 ? findRow(outsideOids, oids, oidOffset) : -1;
      if (inside < 0) numbers += outsideOids.length / OID_BYTES;
      if (inside < 0 && outside < 0) continue;
      const ref = inside < 0 ? idx.count + outside : inside;
      const found = scanLists(sidecar, ref);
      numbers += found.numbers;
      for (const row of found.commits) {
        const commit = { pack, position: sidecar.commits[row] as number };
        nodes.push(this.nodeAt(this.catalog.home(commit)));
      }
    }
    return { nodes, numbers };
  }

  /**
   * `findIntroducing` where tables are read by block: yields the commits as they are found, those
   * that cost least first.
   *
   * @param onScanned Receives how many numbers of lists were read and compared.
   */
  async *eachIntroducing(
    { pack: home, position }: ObjectLocation,
    onScanned: (numbers: number) => void,
  ): AsyncGenerator<Node> {
    const { catalog } = this;
    const { bytes } = await resident(() => {
      const raw = catalog.rawOid({ pack: home, position });
      return { bytes: raw.bytes.slice(raw.offset, raw.offset + OID_BYTES) };
    });
    const scans: { pack: number; ref: number }[] = [];
    for (const [pack, each] of catalog.packs.entries()) {
      const inside = await resident(() =>
        pack === home ? position : catalog.findIn(pack, bytes, 0),
      );
      const outside = inside < 0 ? findRow(historyOf(each).outsideOids, bytes, 0) : -1;
      if (inside < 0 && outside < 0) continue;
      if (inside < 0 || !each.blocks) {
        scans.push({ pack, ref: inside < 0 ? countObjects(each) + outside : inside });
        continue;
      }
      const { blocks } = each;
      const { commit, hasSeveral } = await resident(() => blocks.introducer(inside));
      if (commit !== undefined) yield this.nodeOfRow(pack, commit);
      if (hasSeveral) scans.push({ pack, ref: inside });
    }
    // Packs whose tables are in memory come first.
    scans.sort(
      (a, b) => Number(!!catalog.pack(a.pack).blocks) - Number(!!catalog.pack(b.pack).blocks),
    );
    for (const { pack, ref } of scans) {
      const { blocks } = catalog.pack(pack);
      const { commits, numbers } = blocks
        ? await blocks.scanIntroducing(ref)
        : scanLists(catalog.pack(pack).sidecar, ref);
      onScanned(numbers);
      for (const row of commits) yield this.nodeOfRow(pack, row);
    }
  }

  /** The node of the commit that a pack has in a row: its row in the oldest pack. */
  private nodeOfRow(pack: number, row: number): Node {
    return this.commitOfRef(pack, historyOf(this.catalog.pack(pack)).commits[row] as number);
  }

  /** The number of objects that the commit introduces, not counting itself. */
  introducedCount(node: Node): number {
    const { pack, row } = this.rowOf(node);
    const { introducedStarts } = historyOf(this.catalog.pack(pack));
    return (introducedStarts[row + 1] as number) - (introducedStarts[row] as number);
  }

  private rowOf(node: Node): { pack: number; row: number } {
    let pack = 0;
    while ((this.firsts[pack + 1] as number) <= node) pack++;
    return { pack, row: node - (this.firsts[pack] as number) };
  }

  /** The node of the commit with a raw id in one of the first `packsMax` packs. Needs no block. */
  private findCommit(oid: Uint8Array, offset: number, packsMax = this.catalog.packs.length): Node {
    for (let pack = 0; pack < packsMax; pack++) {
      const position = this.catalog.findCommitIn(pack, oid, offset);
      const node = position < 0 ? NO_NODE : this.nodeAt({ pack, position });
      if (node !== NO_NODE) return node;
    }
    return NO_NODE;
  }

  private nodeOfRef(pack: number, ref: number): Node {
    if (this.catalog.isByBlock) return this.commitOfRef(pack, ref);
    const location = this.locationOfRef(pack, ref);
    return location ? this.nodeAt(location) : NO_NODE;
  }

  /**
   * `nodeOfRef` without a block, unless a pack that is read by block has the commit as a base
   * alone.
   */
  private commitOfRef(pack: number, ref: number): Node {
    const each = this.catalog.pack(pack);
    const count = countObjects(each);
    if (ref >= count)
      return this.findCommit(historyOf(each).outsideOids, (ref - count) * OID_BYTES);
    const own = this.nodeAt({ pack, position: ref });
    if (pack === 0) return own;
    if (own === NO_NODE || !each.blocks) {
      const { bytes, offset } = this.catalog.rawOid({ pack, position: ref });
      const older = this.findCommit(bytes, offset, pack);
      return older === NO_NODE ? own : older;
    }
    const row = own - (this.firsts[pack] as number);
    const older = this.findCommit(each.blocks.index.history.commitOids, row * OID_BYTES, pack);
    return older === NO_NODE ? own : older;
  }

  private locationOfRef(
    pack: number,
    ref: number,
    isTableHome = false,
  ): ObjectLocation | undefined {
    const each = this.catalog.pack(pack);
    const count = countObjects(each);
    if (ref < count) {
      const own = { pack, position: ref };
      return isTableHome && this.catalog.isByBlock
        ? this.catalog.tableHome(own)
        : this.catalog.home(own);
    }
    return this.catalog.findRaw(historyOf(each).outsideOids, (ref - count) * OID_BYTES);
  }

  private areGenerationsSound(): boolean {
    for (let node = 0; node < this.count; node++) {
      for (const parent of this.parents(node)) {
        const isOlder =
          parent === NO_NODE ||
          (this.generations[parent] as number) < (this.generations[node] as number);
        if (!isOlder) return false;
      }
    }
    return true;
  }

  /** Recomputes generations, for packs that were indexed before the commits they build on. */
  private countGenerations(): void {
    const { generations } = this;
    generations.fill(0);
    const stack: Node[] = [];
    for (let start = 0; start < this.count; start++) {
      if (generations[start] === 0) stack.push(start);
      for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
        let highest = 0;
        const before = stack.length;
        for (const parent of this.parents(node)) {
          if (parent === NO_NODE) continue;
          if (generations[parent] === 0) stack.push(parent);
          else highest = Math.max(highest, generations[parent] as number);
        }
        if (stack.length > before) continue;
        generations[node] = highest + 1;
        stack.pop();
      }
    }
  }
}

/** The row of the id at `oid[offset..]` in a table of raw ids; -1 if the table lacks it. */
function findRow(oids: Uint8Array, oid: Uint8Array, offset: number): number {
  const first = oid[offset] as number;
  for (let at = oids.indexOf(first); at >= 0; at = oids.indexOf(first, at + 1)) {
    if (at % OID_BYTES !== 0) continue;
    let same = 1;
    while (same < OID_BYTES && oids[at + same] === oid[offset + same]) same++;
    if (same === OID_BYTES) return at / OID_BYTES;
  }
  return -1;
}

/** The rows of the commits whose lists have a reference, and how many numbers were compared. */
function scanLists(
  { introduced, introducedStarts }: Sidecar,
  ref: number,
): { commits: number[]; numbers: number } {
  const commits: number[] = [];
  for (let at = introduced.indexOf(ref); at >= 0; at = introduced.indexOf(ref, at + 1)) {
    commits.push(findRange(introducedStarts, at));
  }
  return { commits, numbers: introduced.length };
}

/** The last index whose start is not behind `at`, of ranges that follow each other. */
function findRange(starts: Uint32Array, at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((starts[middle] as number) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
