import { missing } from "../error.ts";
import { parseCommit } from "../object/commit.ts";
import { isSubmoduleMode, isTreeMode, visitTree } from "../object/tree.ts";
import { OID_BYTES } from "../oid.ts";
import type { PackTable } from "../pack/pack-table.ts";
import type { ObjectReader } from "../store.ts";
import { NumberList } from "./number-list.ts";
import type { PackInspector } from "./pack-inspector.ts";
import { isTreeLink, linkId } from "./tree-links.ts";

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
 * Finds the objects that each commit of a pack introduces: the objects reachable from its tree that
 * no parent's tree contains at the same depth of the same directory.
 *
 * The union over a range of commits contains every object that the range needs beyond its excluded
 * ancestors, because an object that is left out of a commit's list is in a parent's tree. Trees are
 * compared by their children as sets, without names, so a file renamed inside its directory is not
 * introduced again.
 *
 * @param objects Reads parents and their trees outside of the pack.
 */
export async function findIntroduced(
  inspector: PackInspector,
  table: PackTable,
  objects: ObjectReader,
): Promise<Introduced> {
  const finder = new IntroducedFinder(inspector, table, objects);
  return finder.run();
}

class IntroducedFinder {
  private readonly inspector: PackInspector;
  private readonly objects: ObjectReader;
  private readonly ids = new NumberList();
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

  constructor(inspector: PackInspector, table: PackTable, objects: ObjectReader) {
    this.inspector = inspector;
    this.objects = objects;
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
      const parentRoots: number[] = [];
      for (const parentId of commits.parentIds(commit)) {
        parentRoots.push(this.roots.get(parentId) ?? (await this.loadRoot(parentId)));
      }
      this.listed++;
      await this.introduce(commits.treeId(commit), parentRoots);
      starts[commit + 1] = this.ids.length;
    }
    const workBytes = this.oldRound.byteLength + this.listRound.byteLength;
    return { starts, ids: this.ids, workBytes };
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
      for (const old of item.olds) oldLinks.push(this.known(old) ?? (await this.load(old)));
      const links = this.known(item.tree) ?? (await this.load(item.tree));

      const round = ++this.round;
      this.reserve();
      for (const list of oldLinks) {
        for (const link of list) this.oldRound[linkId(link)] = round;
      }
      const changed: number[] = [];
      for (const link of links) {
        const id = linkId(link);
        if (this.oldRound[id] === round) continue;
        if (isTreeLink(link)) changed.push(id);
        else this.list(id);
      }
      if (changed.length === 0) continue;
      // A new tree can only be an edited version of a removed one.
      const keptRound = ++this.round;
      for (const link of links) this.oldRound[linkId(link)] = keptRound;
      const gone = new Set<number>();
      for (const list of oldLinks) {
        for (const link of list) {
          if (isTreeLink(link) && this.oldRound[linkId(link)] !== keptRound) gone.add(linkId(link));
        }
      }
      const goneList = [...gone];
      for (const id of changed) stack.push({ tree: id, olds: goneList });
    }
  }

  /** Adds an object to the commit's list; false if the list contains it. */
  private list(id: number): boolean {
    this.reserve();
    if (this.listRound[id] === this.listed) return false;
    this.listRound[id] = this.listed;
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
  }

  /** Returns the children of a tree; undefined if it is outside of the pack and not cached. */
  private known(tree: number): Uint32Array | undefined {
    const { trees } = this.inspector;
    return trees.has(tree) ? trees.children(tree) : trees.recall(tree);
  }

  private async load(tree: number): Promise<Uint32Array> {
    const { trees, pool } = this.inspector;
    const found = await this.objects.readObject(pool.oid(tree));
    if (found?.kind !== "tree") throw missing(`tree ${pool.oid(tree)}`);
    const links: number[] = [];
    visitTree(found.content, (mode, _nameStart, _nameEnd, oidOffset) => {
      if (isSubmoduleMode(mode)) return;
      links.push(pool.add(found.content, oidOffset) * 2 + (isTreeMode(mode) ? 1 : 0));
    });
    const list = Uint32Array.from(links);
    trees.remember(tree, list);
    return list;
  }

  private async loadRoot(commitId: number): Promise<number> {
    const { pool } = this.inspector;
    const found = await this.objects.readObject(pool.oid(commitId));
    if (found?.kind !== "commit") throw missing(`commit ${pool.oid(commitId)}`);
    const root = pool.addOid(parseCommit(found.content).treeOid);
    this.roots.set(commitId, root);
    return root;
  }
}
