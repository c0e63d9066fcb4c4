import { compareTrees } from "../object/compare-trees.ts";
import { isSubmoduleMode, isTreeMode, visitTree } from "../object/tree.ts";
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

interface Stored {
  /** Tree that this one differs from, by its number in the pool; -1 if it stands for itself. */
  readonly base: number;
  /** Where its links start: those removed from the base, then those added. */
  readonly start: number;
  readonly removed: number;
  readonly added: number;
}

/**
 * The children of every tree of a pack.
 *
 * A tree stored as a delta is kept as what it adds to and takes from its base, a few numbers: the
 * links of a long history, written out, take tens of megabytes, as differences a twentieth.
 * Lists are bags, not sets: a child that stands twice in a tree may go once.
 */
export class TreeLinks {
  private readonly pool: OidPool;
  private readonly trees = new Map<number, Stored>();
  private readonly links = new NumberList();
  private readonly cache = new Map<number, Uint32Array>();
  private cachedNumbers = 0;
  /** How many of each link are to be taken out; all zero between calls. */
  private taken = new Uint32Array(0);

  constructor(pool: OidPool) {
    this.pool = pool;
  }

  /** @param tree The tree's number in the pool. */
  has(tree: number): boolean {
    return this.trees.has(tree);
  }

  /** Records a tree by all its children. */
  add(tree: number, content: Uint8Array): void {
    const start = this.links.length;
    visitTree(content, (mode, _nameStart, _nameEnd, oidOffset) => {
      this.pushLink(mode, content, oidOffset);
    });
    this.trees.set(tree, { base: -1, start, removed: 0, added: this.links.length - start });
  }

  /** Records a tree by how it differs from another that was recorded. */
  addDifference(
    tree: number,
    content: Uint8Array,
    base: number,
    baseContent: Uint8Array,
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
    this.trees.set(tree, {
      base,
      start,
      removed: middle - start,
      added: this.links.length - middle,
    });
  }

  /** Links of a tree, in no order. Cost: the differences down its chain, unless it was asked for lately. */
  children(tree: number): Uint32Array {
    const chain: Stored[] = [];
    let links = this.cache.get(tree);
    for (let at = tree; !links;) {
      const stored = this.trees.get(at);
      if (!stored) throw new Error(`tree ${at} was not recorded`);
      chain.push(stored);
      if (stored.base < 0) links = new Uint32Array(0);
      else links = this.cache.get((at = stored.base));
    }
    for (const stored of chain.toReversed()) links = this.apply(links, stored);
    this.remember(tree, links);
    return links;
  }

  /** Keeps a list that was made elsewhere, of a tree that is not in the pack. */
  remember(tree: number, links: Uint32Array): void {
    if (!this.cache.delete(tree)) this.cachedNumbers += links.length;
    this.cache.set(tree, links);
    for (const [oldest, list] of this.cache) {
      if (this.cachedNumbers <= CACHE_NUMBERS_MAX || oldest === tree) break;
      this.cache.delete(oldest);
      this.cachedNumbers -= list.length;
    }
  }

  /** A list kept by `remember` or `children`, if it is still there. */
  recall(tree: number): Uint32Array | undefined {
    return this.cache.get(tree);
  }

  private apply(base: Uint32Array, { start, removed, added }: Stored): Uint32Array {
    const result = new Uint32Array(base.length - removed + added);
    let to = 0;
    if (removed === 0) {
      result.set(base);
      to = base.length;
    } else {
      if (this.taken.length < this.pool.count * 2) {
        this.taken = new Uint32Array(this.pool.count * 2);
      }
      const { taken } = this;
      for (let at = start; at < start + removed; at++) (taken[this.links.at(at)] as number)++;
      for (const link of base) {
        if ((taken[link] as number) > 0) (taken[link] as number)--;
        else result[to++] = link;
      }
    }
    result.set(this.links.view(start + removed, start + removed + added), to);
    return result;
  }

  private pushLink(mode: number, bytes: Uint8Array, oidOffset: number): void {
    if (isSubmoduleMode(mode)) return;
    this.links.push(this.pool.add(bytes, oidOffset) * 2 + (isTreeMode(mode) ? 1 : 0));
  }
}
