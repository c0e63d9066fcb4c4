import { LocationSet } from "../catalog/location-set.ts";
import type { ObjectLocation, PackCatalog } from "../catalog/pack-catalog.ts";
import { WHOLE_BYTES_MAX } from "../catalog/packed-objects.ts";
import { missing } from "../error.ts";
import { COMMIT, TAG, TREE } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import { NO_NODE, type Node } from "./commit-graph.ts";
import { tagTarget } from "./peel.ts";
import type { ReachableSource } from "./reachable-objects.ts";
import { walkTree } from "./tree-walk.ts";

/** The part of a pack that nothing keeps. */
export interface LostPart {
  readonly objectCount: number;
  /** As stored. */
  readonly packBytes: number;
}

/**
 * The objects of some packs that refs reach, of one repository or of several ones that share the
 * packs.
 *
 * An object that is kept is kept in each of the packs: a repository that lists only some of them
 * needs no other copy.
 */
export class KeptObjects {
  private readonly catalog: PackCatalog;
  /** Objects with all that they reach. */
  private readonly kept: LocationSet;
  /** Further ones, which may lack some of what they reach. */
  private readonly partial: LocationSet;

  /** @param catalog The packs of a repository, oldest first. */
  constructor(catalog: PackCatalog) {
    this.catalog = catalog;
    this.kept = new LocationSet(catalog);
    this.partial = new LocationSet(catalog);
  }

  /** Whether the catalog has the object, and it is kept, with all that it reaches. */
  has(oid: Oid): boolean {
    const location = this.catalog.find(oid);
    return location !== undefined && this.kept.has(location);
  }

  /**
   * Keeps some objects and all that they reach.
   *
   * Cost: each commit is walked once, over all calls; objects are read only below trees that are
   * reached without a commit.
   *
   * @param source An open repository whose catalog begins with the packs of this one's.
   * @param isComplete Whether all that they reach must exist. Otherwise what is missing is skipped,
   * as for former values of refs: a search with a shorter grace period may have removed it.
   * @throws GitError `missing` if it must and does not.
   */
  async addReachable(
    { catalog, graph, objects }: ReachableSource,
    oids: Iterable<Oid>,
    isComplete: boolean,
  ): Promise<void> {
    const kept = isComplete ? this.kept : this.partial;
    const tips: Node[] = [];
    const visited = new LocationSet(catalog);
    for (const oid of oids) {
      let at: ObjectLocation | undefined = catalog.find(oid);
      if (!at && isComplete) throw missing(`object ${oid}`);
      for (; at && catalog.kind(at) === TAG; at = tagTarget(catalog, at)) kept.add(at);
      if (!at) continue;
      if (catalog.kind(at) === COMMIT) {
        tips.push(graph.nodeAt(at));
        continue;
      }
      await walkTree(catalog, objects, at, (location) => {
        if (!visited.add(location)) return false;
        kept.add(location);
        return catalog.kind(location) === TREE;
      });
    }
    const isWalked = new Uint8Array(graph.count);
    const own = this.catalog.packs.length;
    for (let node = tips.pop(); node !== undefined; node = tips.pop()) {
      if (node === NO_NODE) {
        if (isComplete) throw missing("parent of a commit");
        continue;
      }
      if (isWalked[node] === 1) continue;
      isWalked[node] = 1;
      const location = graph.location(node);
      // A commit is added with all that it reaches, so an earlier call has walked its history.
      if (this.kept.has(location)) continue;
      if (!kept.add(location) && location.pack < own) continue;
      graph.visitIntroduced(node, (each) => void kept.add(each));
      for (const parent of graph.parents(node)) tips.push(parent);
    }
  }

  /**
   * Keeps also the bases of deltas that are too large to be read into memory, so that they can be
   * copied as they are. Call it when all else is added.
   */
  addLargeBases(): void {
    for (const [pack, { idx, sidecar }] of this.catalog.packs.entries()) {
      const { bases, sizes } = sidecar;
      /**
       * For each position 1 if its whole chain is small enough, 2 if not, 3 if its bases are kept;
       * 0 if that is unknown.
       */
      const states = new Uint8Array(idx.count);
      const chain: number[] = [];
      for (let position = 0; position < idx.count; position++) {
        if (!this.isKept(pack, position)) continue;
        let at = position;
        for (; at >= 0 && states[at] === 0; at = bases[at] as number) chain.push(at);
        let state = at >= 0 && states[at] !== 1 ? 2 : 1;
        for (let next = chain.pop(); next !== undefined; next = chain.pop()) {
          if ((sizes[next] as number) > WHOLE_BYTES_MAX) state = 2;
          states[next] = state;
        }
        for (at = position; at >= 0 && states[at] === 2; at = bases[at] as number) {
          states[at] = 3;
          const base = bases[at] as number;
          if (base >= 0) this.partial.add({ pack, position: base });
        }
      }
    }
  }

  /** Whether an object is kept in a pack. */
  isKept(pack: number, position: number): boolean {
    const location = { pack, position };
    return this.isMarked(location) || this.isMarked(this.catalog.home(location));
  }

  private isMarked(location: ObjectLocation): boolean {
    return this.kept.has(location) || this.partial.has(location);
  }

  /**
   * The objects of a pack that are kept: a bit for each position, from the lowest of each number
   * on.
   */
  bitsOf(pack: number): Uint32Array {
    const { count } = this.catalog.pack(pack).idx;
    const bits = new Uint32Array(Math.ceil(count / 32));
    for (let position = 0; position < count; position++) {
      if (this.isKept(pack, position)) (bits[position >>> 5] as number) |= 1 << (position & 31);
    }
    return bits;
  }

  /** Counts what a pack loses. */
  countLost(pack: number): LostPart {
    let [objectCount, packBytes] = [0, 0];
    for (let position = 0; position < this.catalog.pack(pack).idx.count; position++) {
      if (this.isKept(pack, position)) continue;
      const { start, end } = this.catalog.range({ pack, position });
      objectCount++;
      packBytes += end - start;
    }
    return { objectCount, packBytes };
  }
}
