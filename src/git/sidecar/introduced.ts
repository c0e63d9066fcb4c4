import { missing } from "../error.ts";
import { parseCommit } from "../object/commit.ts";
import { isSubmoduleMode, isTreeMode, visitTree } from "../object/tree.ts";
import { OID_BYTES } from "../oid.ts";
import type { PackTable } from "../pack/pack-table.ts";
import type { ObjectReader } from "../store.ts";
import { NumberList } from "./number-list.ts";
import type { PackInspector } from "./pack-inspector.ts";
import { isTreeLink, linkId } from "./tree-links.ts";

/** Which objects each commit introduces: lists laid one behind the other. */
export interface Introduced {
  /** Where the list of each commit starts, in the inspector's order; one more for the end. */
  readonly starts: Uint32Array;
  /** Trees and blobs by their number in the pool. */
  readonly ids: NumberList;
  /** Bytes that finding them held beside the two lists. */
  readonly workBytes: number;
}

/**
 * Finds the objects that each commit of a pack introduces: what its tree leads to and none of its
 * parents' trees holds at the same depth of the same directory.
 *
 * Their union over a range of commits is all that the range needs beyond what lies behind it: an
 * object left out of one commit's list is in a parent's tree. Trees are compared by their children
 * as sets, without names, so a file renamed inside its directory is not introduced again.
 *
 * @param objects Reads what lies outside of the pack: parents and their trees.
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
  /** Root tree of each commit of the pack, by number. */
  private readonly roots = new Map<number, number>();
  /** Which round last marked an id: in a parent's tree, and in the list of this commit. */
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

  /** Lists `tree` and what is new below it, where `olds` are the trees it is compared with. */
  private async introduce(tree: number, olds: readonly number[]): Promise<void> {
    // A stack instead of recursion: trees from outside may be nested as deep as they like.
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
      // Only trees that went away can be what a new one is made of.
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

  /** Adds an object to the commit's list; false if it is there already. */
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

  /** Children of a tree, unless it lies outside of the pack and was not met lately. */
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
