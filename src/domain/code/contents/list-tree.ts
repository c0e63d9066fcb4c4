import {
  isSubmoduleMode,
  isTreeMode,
  parseTreeInPieces,
  type TreeEntry,
  visitTree,
} from "../../../git/object/tree.ts";
import type { PackedObjects } from "../../../git/catalog/packed-objects.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import { tooLarge } from "../../../lib/failure.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { formatOid, type Oid } from "../../../git/oid.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { Listed } from "../../slice.ts";

/** Maximum nesting of trees: no checkout could be deeper. */
const DEPTH_MAX = 2048;

/** Maximum total length of the paths of a page, in characters. */
const PAGE_CHARS_MAX = 8 * 1024 * 1024;

/** A tree entry with its path relative to the listed tree. */
export interface TreeListItem {
  readonly path: string;
  readonly entry: TreeEntry;
  /** Size of a blob in bytes; 0 for trees and submodules. */
  readonly sizeBytes: number;
}

/**
 * Lists a slice of a tree's entries, as `git ls-tree -t` does. With `isRecursive`, each subtree is
 * followed by its own entries.
 *
 * SECURITY: a repeated tree is read once and counted each time. Ten trees that each contain the
 * next one ten times have ten billion entries, so that walking each of them would never end.
 *
 * Cost: reads each tree once for the total, and the trees of the slice once more.
 *
 * @throws Failure `too_large` for trees nested deeper than 2048, or a page with over 8 M characters
 *   of paths.
 */
export async function listTree(
  repository: OpenRepository,
  root: ObjectLocation,
  isRecursive: boolean,
  slice: { offset: number; size: number },
): Promise<Listed<TreeListItem>> {
  const rootOid = await resident(() => repository.catalog.oid(root));
  const counts = await countEntries(repository, rootOid, isRecursive);
  const lister = new TreeLister(repository, isRecursive, counts, slice);
  await lister.list(root, "", 0);
  return { items: lister.items, total: counts.get(rootOid) ?? 0 };
}

/** Counts the entries of a tree, and recursively those of its subtrees if `isRecursive`. */
async function countEntries(
  { results, catalog, objects: packed }: OpenRepository,
  rootOid: Oid,
  isRecursive: boolean,
): Promise<Map<Oid, number>> {
  const counts = new Map<Oid, number>();
  const count = async (
    objects: Pick<PackedObjects, "readAt">,
    treeOid: Oid,
    depth: number,
  ): Promise<number> => {
    const known = counts.get(treeOid);
    if (known !== undefined) return known;
    if (depth > DEPTH_MAX) throw tooLarge("trees nested too deep");
    const location = await resident(() => catalog.find(treeOid));
    const content = location ? await objects.readAt(location) : new Uint8Array(0);
    const children: Oid[] = [];
    let total = 0;
    visitTree(content, (mode, _nameStart, _nameEnd, oidOffset) => {
      total++;
      if (isRecursive && isTreeMode(mode)) children.push(formatOid(content, oidOffset));
    });
    for (const child of children) total += await count(objects, child, depth + 1);
    total = Math.min(total, Number.MAX_SAFE_INTEGER);
    counts.set(treeOid, total);
    return total;
  };
  const known = await results.getOrCompute(
    ["tree counts", rootOid, isRecursive],
    async (budget) => {
      await count(packed.within(budget), rootOid, 0);
      return [...counts];
    },
  );
  return new Map(known);
}

class TreeLister {
  readonly items: TreeListItem[] = [];
  private readonly repository: OpenRepository;
  private readonly isRecursive: boolean;
  private readonly counts: ReadonlyMap<Oid, number>;
  private readonly size: number;
  /** Entries still to skip before the slice. */
  private toSkip: number;
  private chars = 0;

  constructor(
    repository: OpenRepository,
    isRecursive: boolean,
    counts: ReadonlyMap<Oid, number>,
    { offset, size }: { offset: number; size: number },
  ) {
    this.repository = repository;
    this.isRecursive = isRecursive;
    this.counts = counts;
    this.toSkip = offset;
    this.size = size;
  }

  async list(tree: ObjectLocation, above: string, depth: number): Promise<void> {
    const { catalog } = this.repository;
    for (const entry of await this.read(tree)) {
      if (this.items.length === this.size) return;
      const isWalked = this.isRecursive && isTreeMode(entry.mode);
      const child = isWalked ? await resident(() => catalog.find(entry.oid)) : undefined;
      const below = child ? (this.counts.get(entry.oid) ?? 0) : 0;
      if (this.toSkip > below) {
        this.toSkip -= below + 1;
        continue;
      }
      const path = above + decodeText(entry.name);
      if (this.toSkip > 0) this.toSkip--;
      else await this.add(path, entry);
      if (child) await this.list(child, `${path}/`, depth + 1);
    }
  }

  private async add(path: string, entry: TreeEntry): Promise<void> {
    this.chars += path.length;
    if (this.chars > PAGE_CHARS_MAX) throw tooLarge("the paths of this page are too long");
    const { catalog } = this.repository;
    const found = isTreeMode(entry.mode) ? undefined : await catalog.findSized(entry.oid);
    this.items.push({ path, entry, sizeBytes: found?.sizeBytes ?? 0 });
  }

  private async read(tree: ObjectLocation): Promise<TreeEntry[]> {
    const { catalog, objects } = this.repository;
    const entries = await parseTreeInPieces(await objects.readAt(tree), objects.budget);
    if (this.toSkip === 0) {
      const listed = entries.slice(0, this.size - this.items.length);
      await catalog.loadOids(
        listed.flatMap(({ mode, oid }) => (isSubmoduleMode(mode) ? [] : [oid])),
      );
    }
    return entries;
  }
}
