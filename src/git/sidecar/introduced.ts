import { type Budget, giveWay, runInTurns, type Steps, UNLIMITED } from "../budget.ts";
import { corrupt, missing, overLimit } from "../error.ts";
import { BLOB, COMMIT, KIND_CODES, kindOf, TREE } from "../object/kind.ts";
import { parseCommit } from "../object/commit.ts";
import { isSubmoduleMode, isTreeMode, visitTreeInParts } from "../object/tree.ts";
import { OID_BYTES } from "../oid.ts";
import type { PackTable } from "../pack/pack-table.ts";
import type { OutsideObjects } from "../store.ts";
import { NumberList } from "./number-list.ts";
import type { PackInspector } from "./pack-inspector.ts";
import { isTreeLink, linkId } from "./tree-links.ts";

/** Steps to visit a commit, a tree or a link out of the pack, and to compare a link of a tree. */
const STEPS = { object: 400, link: 1.5 } as const;

/**
 * Objects that the commits of a pack introduce at most, besides those for each object of the pack:
 * four bytes each.
 */
const INTRODUCED_MAX = 2 ** 21;
const INTRODUCED_PER_OBJECT_MAX = 8;

/** The objects that each commit introduces, as concatenated lists. */
export interface Introduced {
  /** Start of each commit's list, in the inspector's order, followed by the end of the last one. */
  readonly starts: Uint32Array;
  /** Pool ids of trees and blobs. */
  readonly ids: NumberList;
  /** Memory used in addition to the two lists, in bytes. */
  readonly workBytes: number;
}

/**
 * Checks the links out of a pack, and finds the objects that each commit of it introduces: the
 * objects reachable from its tree that no parent's tree contains at the same depth of the same
 * directory.
 *
 * The union over a range of commits contains every object that the range needs beyond its excluded
 * ancestors, because an object that is left out of a commit's list is in a parent's tree. Trees are
 * compared by their children as sets, without names, so a file renamed inside its directory is not
 * introduced again.
 *
 * SECURITY: every link out of the pack must lead to an object of `outside`, of the kind that the
 * link states. Both are done at once because the comparison answers nearly all links of a usual
 * push: what a tree of an outside parent links to may be linked again. `outside` is asked only for
 * the others. An object that it does not know is never read, so that the refusal is the same
 * whether the object is stored or not.
 *
 * @throws GitError `missing` for a link to an object that is not of `outside`, `corrupt` for one of
 *   another kind.
 */
export async function findIntroduced(
  inspector: PackInspector,
  table: PackTable,
  outside: OutsideObjects,
  budget: Budget = UNLIMITED,
): Promise<Introduced> {
  const links = await runInTurns(inspector.listOutsideLinks(), budget);
  const finder = new IntroducedFinder(inspector, table, outside, budget);
  const introduced = await finder.run();
  for (const { id, kind } of links) {
    const turn = giveWay(budget, STEPS.object);
    if (turn) await turn;
    await finder.require(id, KIND_CODES[kind]);
  }
  return introduced;
}

class IntroducedFinder {
  private readonly inspector: PackInspector;
  private readonly outside: OutsideObjects;
  private readonly budget: Budget;
  private readonly ids = new NumberList();
  private readonly idsMax: number;
  /** Root tree of each commit of the pack, by pool id. */
  private readonly roots = new Map<number, number>();
  /**
   * The round that last marked an id, as part of a parent's tree and as part of the current
   * commit's list.
   */
  private oldRound = new Uint32Array(0);
  private listRound = new Uint32Array(0);
  private round = 0;
  private listed = 0;
  /**
   * The kind of each object outside of the pack that may be linked, 0 for those not known to be.
   */
  private known = new Uint8Array(0);

  constructor(inspector: PackInspector, table: PackTable, outside: OutsideObjects, budget: Budget) {
    this.budget = budget;
    this.idsMax = INTRODUCED_MAX + INTRODUCED_PER_OBJECT_MAX * table.count;
    this.inspector = inspector;
    this.outside = outside;
    const { commits, pool } = inspector;
    for (let commit = 0; commit < commits.length; commit++) {
      const id = pool.add(table.oids, commits.entry(commit) * OID_BYTES);
      this.roots.set(id, commits.treeId(commit));
    }
  }

  async run(): Promise<Introduced> {
    const { commits } = this.inspector;
    const starts = new Uint32Array(commits.length + 1);
    for (let commit = 0; commit < commits.length; commit++) {
      // Each once: a commit may name one parent a hundred thousand times.
      const parentRoots = new Set<number>();
      for (const parentId of commits.parentIds(commit)) {
        parentRoots.add(this.roots.get(parentId) ?? (await this.loadRoot(parentId)));
      }
      this.listed++;
      const turn = giveWay(this.budget, STEPS.object);
      if (turn) await turn;
      await this.introduce(commits.treeId(commit), [...parentRoots]);
      starts[commit + 1] = this.ids.length;
    }
    const workBytes = this.oldRound.byteLength + this.listRound.byteLength + this.known.length;
    return { starts, ids: this.ids, workBytes };
  }

  /**
   * Refuses a link to the object with a pool id, outside of the pack, unless it may be linked as
   * `kind`.
   */
  async require(id: number, kind: number): Promise<void> {
    this.reserve();
    if (this.known[id] === kind) return;
    const oid = this.inspector.pool.oid(id);
    const found = await this.outside.find(oid);
    if (found === undefined) throw missing(`${kindOf(kind)} ${oid} is missing`);
    if (found !== kindOf(kind)) throw corrupt(`${oid} is no ${kindOf(kind)}`);
    this.known[id] = kind;
  }

  /**
   * Adds `tree` and the new objects below it to the list. `olds` are the trees to compare it with.
   */
  private async introduce(tree: number, olds: readonly number[]): Promise<void> {
    // A stack instead of recursion, because untrusted trees may be nested to any depth.
    const stack = [{ tree, olds }];
    for (let item = stack.pop(); item; item = stack.pop()) {
      if (item.olds.includes(item.tree) || !this.list(item.tree)) continue;
      const oldLinks: Uint32Array[] = [];
      for (const old of item.olds) oldLinks.push(await this.linksOf(old));
      const links = await this.linksOf(item.tree);

      const changed = await runInTurns(this.listChanged(links, oldLinks), this.budget);
      if (changed.length === 0) continue;
      const gone = await runInTurns(this.findGone(links, oldLinks), this.budget);
      for (const id of changed) stack.push({ tree: id, olds: gone });
    }
  }

  // These two run for each link of each changed tree. Iterators of typed arrays would allocate an
  // object for each.

  /**
   * Adds the blobs of a tree that no old tree contains to the list. @returns The trees that no old
   * tree contains.
   */
  private *listChanged(links: Uint32Array, oldLinks: readonly Uint32Array[]): Steps<number[]> {
    const round = ++this.round;
    this.reserve();
    const { oldRound } = this;
    for (const list of oldLinks) {
      mark(oldRound, list, round);
      yield STEPS.link * list.length;
    }
    const changed: number[] = [];
    for (let at = 0; at < links.length; at++) {
      const link = links[at] as number;
      const id = linkId(link);
      if (oldRound[id] === round) continue;
      if (isTreeLink(link)) changed.push(id);
      else this.list(id);
    }
    yield STEPS.object + STEPS.link * links.length;
    return changed;
  }

  /**
   * The trees of old trees that a tree does not contain, each once: a new tree can only be an
   * edited version of one.
   */
  private *findGone(links: Uint32Array, oldLinks: readonly Uint32Array[]): Steps<number[]> {
    const round = ++this.round;
    const { oldRound } = this;
    mark(oldRound, links, round);
    const gone: number[] = [];
    for (const list of oldLinks) {
      for (let at = 0; at < list.length; at++) {
        const link = list[at] as number;
        const id = linkId(link);
        if (!isTreeLink(link) || oldRound[id] === round) continue;
        oldRound[id] = round;
        gone.push(id);
      }
      yield STEPS.link * list.length;
    }
    return gone;
  }

  /** Adds an object to the commit's list; false if the list contains it. */
  private list(id: number): boolean {
    this.reserve();
    if (this.listRound[id] === this.listed) return false;
    this.listRound[id] = this.listed;
    // SECURITY: commits of some bytes that alternate between two trees introduce all of these
    // again, each of them.
    if (this.ids.length === this.idsMax)
      throw overLimit("pack: commits list too many objects anew");
    this.ids.push(id);
    return true;
  }

  private reserve(): void {
    const { count } = this.inspector.pool;
    if (this.oldRound.length >= count) return;
    const length = Math.max(count, this.oldRound.length * 2);
    const oldRound = new Uint32Array(length);
    oldRound.set(this.oldRound);
    this.oldRound = oldRound;
    const listRound = new Uint32Array(length);
    listRound.set(this.listRound);
    this.listRound = listRound;
    const known = new Uint8Array(length);
    known.set(this.known);
    this.known = known;
  }

  /** Returns the children of a tree, which is read if it is outside of the pack and not cached. */
  private async linksOf(tree: number): Promise<Uint32Array> {
    const { trees } = this.inspector;
    if (!trees.has(tree)) return trees.recall(tree) ?? this.load(tree);
    return runInTurns(trees.children(tree), this.budget);
  }

  private async load(tree: number): Promise<Uint32Array> {
    const { trees, pool } = this.inspector;
    await this.require(tree, TREE);
    const found = await this.outside.readObject(pool.oid(tree));
    if (found?.kind !== "tree") throw missing(`tree ${pool.oid(tree)} is missing`);
    const links: number[] = [];
    const visiting = visitTreeInParts(found.content, (mode, _nameStart, _nameEnd, oidOffset) => {
      if (isSubmoduleMode(mode)) return;
      links.push(pool.add(found.content, oidOffset) * 2 + (isTreeMode(mode) ? 1 : 0));
    });
    await runInTurns(visiting, this.budget);
    const list = Uint32Array.from(links);
    this.reserve();
    for (const link of list) this.known[linkId(link)] = isTreeLink(link) ? TREE : BLOB;
    trees.remember(tree, list);
    return list;
  }

  private async loadRoot(commitId: number): Promise<number> {
    const { pool } = this.inspector;
    await this.require(commitId, COMMIT);
    const found = await this.outside.readObject(pool.oid(commitId));
    if (found?.kind !== "commit") throw missing(`commit ${pool.oid(commitId)} is missing`);
    const root = pool.addOid(parseCommit(found.content).treeOid);
    this.reserve();
    this.known[root] = TREE;
    this.roots.set(commitId, root);
    return root;
  }
}

/** Marks the ids of links with the number of a round. */
function mark(rounds: Uint32Array, links: Uint32Array, round: number): void {
  for (let at = 0; at < links.length; at++) rounds[linkId(links[at] as number)] = round;
}
