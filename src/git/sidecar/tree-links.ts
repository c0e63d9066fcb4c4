import { compareTrees, entryEnd, entryMode } from "../object/compare-trees.ts";
import { isSubmoduleMode, isTreeMode, visitTree } from "../object/tree.ts";
import { OID_BYTES } from "../oid.ts";
import { ListCache } from "./list-cache.ts";
import { NumberList } from "./number-list.ts";
import type { OidPool } from "./oid-pool.ts";

/** Lists of children kept for reuse, in numbers of four bytes. */
const CACHE_NUMBERS_MAX = 2 * 1024 * 1024;

/**
 * A link from a tree: the child's number in the pool, twice, plus one if the child is a tree.
 * Links to commits of other repositories are left out.
 */
export type Link = number;

export const linkId = (link: Link): number => link >>> 1;
export const isTreeLink = (link: Link): boolean => (link & 1) === 1;

/** Numbers of a row: base, where its links start, how many are removed, how many added, soundness. */
const ROW_NUMBERS = 5;
/** In place of a base: the tree stands for itself. */
const NO_BASE = 0xffffffff;

/**
 * The children of every tree of a pack.
 *
 * A tree stored as a delta is kept as what it adds to and takes from its base, a few numbers: the
 * links of a long history, written out, take tens of megabytes, as differences a twentieth.
 * Lists are bags, not sets: a child that stands twice in a tree may go once.
 */
export class TreeLinks {
  private readonly pool: OidPool;
  /** Row of each tree by its number in the pool, counted from one; 0 for what is no tree. */
  private rowOf = new Uint32Array(1024);
  private readonly rows = new NumberList();
  private readonly links = new NumberList();
  private readonly cache = new ListCache(CACHE_NUMBERS_MAX);

  constructor(pool: OidPool) {
    this.pool = pool;
  }

  /** Bytes of rows, links and lists kept for reuse. */
  get heldBytes(): number {
    const { rowOf, rows, links, cache } = this;
    return rowOf.byteLength + rows.heldBytes + links.heldBytes + cache.heldBytes;
  }

  /** @param tree The tree's number in the pool. */
  has(tree: number): boolean {
    return tree < this.rowOf.length && this.rowOf[tree] !== 0;
  }

  /** True for a recorded tree of which nothing bad is known. */
  isSound(tree: number): boolean {
    return this.has(tree) && this.rows.at(this.row(tree) + 4) === 1;
  }

  /** Records a tree by all its children. */
  add(tree: number, content: Uint8Array, isSound: boolean): void {
    const start = this.links.length;
    visitTree(content, (mode, _nameStart, _nameEnd, oidOffset) => {
      this.pushLink(mode, content, oidOffset);
    });
    this.addRow(tree, NO_BASE, start, start, isSound);
  }

  /** Records a tree by how it differs from another that was recorded. */
  addDifference(
    tree: number,
    content: Uint8Array,
    base: number,
    baseContent: Uint8Array,
    isSound: boolean,
    link: (mode: number, oidOffset: number) => void,
  ): void {
    const start = this.links.length;
    const removed: [number, number][] = [];
    const added: [number, number][] = [];
    compareTrees(
      baseContent,
      content,
      (mode, oidOffset) => removed.push([mode, oidOffset]),
      (mode, oidOffset) => added.push([mode, oidOffset]),
    );
    for (const [mode, oidOffset] of removed) this.pushLink(mode, baseContent, oidOffset);
    const middle = this.links.length;
    for (const [mode, oidOffset] of added) {
      this.pushLink(mode, content, oidOffset);
      link(mode, oidOffset);
    }
    this.addRow(tree, base, start, middle, isSound);
  }

  /**
   * Records a tree that differs from a sound one in ids alone.
   *
   * @param entries Where the entries with another id start, in both contents.
   */
  addEdit(
    tree: number,
    content: Uint8Array,
    base: number,
    baseContent: Uint8Array,
    entries: readonly number[],
    link: (mode: number, oidOffset: number) => void,
  ): void {
    const start = this.links.length;
    for (const entry of entries) {
      const oidOffset = entryEnd(baseContent, entry) - OID_BYTES;
      this.pushLink(entryMode(baseContent, entry), baseContent, oidOffset);
    }
    const middle = this.links.length;
    for (const entry of entries) {
      const mode = entryMode(content, entry);
      const oidOffset = entryEnd(content, entry) - OID_BYTES;
      this.pushLink(mode, content, oidOffset);
      link(mode, oidOffset);
    }
    this.addRow(tree, base, start, middle, true);
  }

  /** Links of a tree, in no order. Cost: the differences down its chain, unless it was asked for lately. */
  children(tree: number): Uint32Array {
    const chain: number[] = [];
    let links = this.cache.get(tree);
    for (let at = tree; !links;) {
      if (!this.has(at)) throw new Error(`tree ${at} was not recorded`);
      const row = this.row(at);
      const base = this.rows.at(row);
      if (base === NO_BASE) {
        const start = this.rows.at(row + 1);
        links = this.links.view(start, start + this.rows.at(row + 3));
      } else {
        chain.push(at);
        at = base;
        links = this.cache.get(base);
      }
    }
    // Neighbours in a chain are neighbours in history: they are asked for next.
    for (let at = chain.pop(); at !== undefined; at = chain.pop()) {
      links = this.apply(links, this.row(at));
      this.cache.set(at, links);
    }
    return links;
  }

  /** Keeps a list that was made elsewhere, of a tree that is not in the pack. */
  remember(tree: number, links: Uint32Array): void {
    this.cache.set(tree, links);
  }

  /** A list kept by `remember` or `children`, if it is still there. */
  recall(tree: number): Uint32Array | undefined {
    return this.cache.get(tree);
  }

  private row(tree: number): number {
    return ((this.rowOf[tree] as number) - 1) * ROW_NUMBERS;
  }

  /** Records a tree whose removed links start at `start`, and whose added ones go from `middle` to the end. */
  private addRow(
    tree: number,
    base: number,
    start: number,
    middle: number,
    isSound: boolean,
  ): void {
    // SECURITY: a pack that holds a tree twice could make it a difference from itself.
    if (this.has(tree)) return;
    if (tree >= this.rowOf.length) {
      const larger = new Uint32Array(Math.max(tree + 1, this.rowOf.length * 2));
      larger.set(this.rowOf);
      this.rowOf = larger;
    }
    const { rows } = this;
    rows.push(base);
    rows.push(start);
    rows.push(middle - start);
    rows.push(this.links.length - middle);
    rows.push(isSound ? 1 : 0);
    this.rowOf[tree] = rows.length / ROW_NUMBERS;
  }

  private apply(base: Uint32Array, row: number): Uint32Array {
    const start = this.rows.at(row + 1);
    const middle = start + this.rows.at(row + 2);
    const end = middle + this.rows.at(row + 3);
    const { links } = this;
    const result = new Uint32Array(base.length + end - middle);
    result.set(base);
    // What is added takes the places of what is removed; the last one fills a place left over.
    let { length } = base;
    let added = middle;
    for (let removed = start; removed < middle; removed++) {
      const place = result.indexOf(links.at(removed));
      if (place < 0) throw new Error("a tree lacks what its difference removes");
      result[place] = added < end ? links.at(added++) : (result[--length] as number);
    }
    for (; added < end; added++) result[length++] = links.at(added);
    return length === result.length ? result : result.slice(0, length);
  }

  private pushLink(mode: number, bytes: Uint8Array, oidOffset: number): void {
    if (isSubmoduleMode(mode)) return;
    this.links.push(this.pool.add(bytes, oidOffset) * 2 + (isTreeMode(mode) ? 1 : 0));
  }
}
