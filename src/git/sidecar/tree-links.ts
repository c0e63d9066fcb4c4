import type { Steps } from "../budget.ts";
import { compareInParts, entryEnd, entryMode } from "../object/compare-trees.ts";
import { isSubmoduleMode, isTreeMode, visitTreeInParts } from "../object/tree.ts";
import { OID_BYTES } from "../oid.ts";
import { ListCache } from "./list-cache.ts";
import { NumberList } from "./number-list.ts";
import type { OidPool } from "./oid-pool.ts";

/** Capacity of the cache of child lists, in numbers of four bytes. */
const CACHE_NUMBERS_MAX = 2 * 1024 * 1024;

/**
 * A link from a tree: twice the child's pool id, plus one if the child is a tree. Submodule links,
 * to commits of other repositories, are left out.
 */
export type Link = number;

export const linkId = (link: Link): number => link >>> 1;
export const isTreeLink = (link: Link): boolean => (link & 1) === 1;

/** Removed links that are searched for one by one. */
const SEARCHED_MAX = 64;
/** Steps to copy, add or remove a link. */
const STEPS_PER_LINK = 0.2;

/**
 * Numbers per row: base, start of its links, number of removed links, number of added links,
 * soundness.
 */
const ROW_NUMBERS = 5;
/** The base of a tree that is recorded by all its children. */
const NO_BASE = 0xffffffff;

/**
 * The children of every tree of a pack.
 *
 * A tree stored as a delta is recorded by the links that it adds to and removes from its base: full
 * lists of a long history take tens of megabytes, differences a twentieth of that. Lists are
 * multisets: one edit may remove one of two equal links.
 */
export class TreeLinks {
  private readonly pool: OidPool;
  /** Row of each tree by pool id, counted from one; 0 if the id is not a recorded tree. */
  private rowOf = new Uint32Array(1024);
  private readonly rows = new NumberList();
  private readonly links = new NumberList();
  private readonly cache = new ListCache(CACHE_NUMBERS_MAX);

  constructor(pool: OidPool) {
    this.pool = pool;
  }

  /** Memory held in bytes: rows, links and cached lists. */
  get heldBytes(): number {
    const { rowOf, rows, links, cache } = this;
    return rowOf.byteLength + rows.heldBytes + links.heldBytes + cache.heldBytes;
  }

  /** @param tree The tree's pool id. */
  has(tree: number): boolean {
    return tree < this.rowOf.length && this.rowOf[tree] !== 0;
  }

  /** True for a recorded tree without findings. */
  isSound(tree: number): boolean {
    return this.has(tree) && this.rows.at(this.row(tree) + 4) === 1;
  }

  /** Records a tree by all its children. */
  *add(tree: number, content: Uint8Array, isSound: boolean): Steps {
    const start = this.links.length;
    yield* visitTreeInParts(content, (mode, _nameStart, _nameEnd, oidOffset) => {
      this.pushLink(mode, content, oidOffset);
    });
    this.addRow(tree, NO_BASE, start, start, isSound);
  }

  /**
   * Records a tree by its difference from another recorded tree.
   *
   * @param link Called for each added entry.
   */
  *addDifference(
    tree: number,
    content: Uint8Array,
    base: number,
    baseContent: Uint8Array,
    isSound: boolean,
    link: (mode: number, oidOffset: number) => void,
  ): Steps {
    const start = this.links.length;
    const removed: [number, number][] = [];
    const added: [number, number][] = [];
    yield* compareInParts(
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
    yield STEPS_PER_LINK * (removed.length + added.length);
    this.addRow(tree, base, start, middle, isSound);
  }

  /**
   * Records a tree that differs from a sound one only in the ids of entries.
   *
   * @param entries Offsets of the changed entries, equal in both contents.
   * @param link Called for each changed entry.
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

  /**
   * Returns the links of a tree, in no particular order. Cost: the differences along its delta
   * chain, unless cached.
   */
  *children(tree: number): Steps<Uint32Array> {
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
    // Trees adjacent in a chain are adjacent in history, so they are requested next.
    for (let at = chain.pop(); at !== undefined; at = chain.pop()) {
      links = this.apply(links, this.row(at));
      yield STEPS_PER_LINK * links.length;
      this.cache.set(at, links);
    }
    return links;
  }

  /** Caches the links of a tree outside of the pack. */
  remember(tree: number, links: Uint32Array): void {
    this.cache.set(tree, links);
  }

  /** Returns a list cached by `remember` or `children`, if it was not evicted. */
  recall(tree: number): Uint32Array | undefined {
    return this.cache.get(tree);
  }

  private row(tree: number): number {
    return ((this.rowOf[tree] as number) - 1) * ROW_NUMBERS;
  }

  /**
   * Adds the row of a tree. Its removed links start at `start`, its added links go from `middle` to
   * the end.
   */
  private addRow(
    tree: number,
    base: number,
    start: number,
    middle: number,
    isSound: boolean,
  ): void {
    // SECURITY: in a pack that contains a tree twice, the tree could become a difference from
    // itself, a cycle.
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
    if (middle - start > SEARCHED_MAX) return this.applyMany(base, { start, middle, end });
    // Added links overwrite removed ones; remaining gaps are filled from the end.
    let { length } = base;
    let added = middle;
    for (let removed = start; removed < middle; removed++) {
      const index = result.indexOf(links.at(removed));
      if (index < 0) throw new Error("a tree lacks what its difference removes");
      result[index] = added < end ? links.at(added++) : (result[--length] as number);
    }
    for (; added < end; added++) result[length++] = links.at(added);
    return length === result.length ? result : result.slice(0, length);
  }

  /** `apply` for many removed links: a search for each would cost the square of their number. */
  private applyMany(
    base: Uint32Array,
    { start, middle, end }: { start: number; middle: number; end: number },
  ): Uint32Array {
    const { links } = this;
    const removed = new Map<number, number>();
    for (let at = start; at < middle; at++) {
      const link = links.at(at);
      removed.set(link, (removed.get(link) ?? 0) + 1);
    }
    const result = new Uint32Array(base.length - (middle - start) + (end - middle));
    let length = 0;
    for (let at = 0; at < base.length; at++) {
      const link = base[at] as number;
      const left = removed.get(link) ?? 0;
      if (left > 0) removed.set(link, left - 1);
      else result[length++] = link;
    }
    for (let at = middle; at < end; at++) result[length++] = links.at(at);
    if (length !== result.length) throw new Error("a tree lacks what its difference removes");
    return result;
  }

  private pushLink(mode: number, bytes: Uint8Array, oidOffset: number): void {
    if (isSubmoduleMode(mode)) return;
    this.links.push(this.pool.add(bytes, oidOffset) * 2 + (isTreeMode(mode) ? 1 : 0));
  }
}
