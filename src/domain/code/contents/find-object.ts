import { COMMIT, TAG, TREE } from "../../../git/object/kind.ts";
import { isOid } from "../../../git/oid.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import { peel } from "../../../git/walk/peel.ts";
import { findReachable } from "../../../git/walk/reachable.ts";
import { findRevision, isPinned } from "../git/find-revision.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";

/**
 * Finds an object of any kind by id.
 *
 * SECURITY: returns only objects reachable from a ref of this repository. Packs are shared within a
 * fork network and force-pushed objects stay stored for a while; an id alone must not give access
 * to either.
 */
export async function findObject(
  snapshot: RepositorySnapshot,
  text: string,
): Promise<ObjectLocation | undefined> {
  const oid = text.toLowerCase();
  if (!isOid(oid)) return undefined;
  const { catalog, graph } = snapshot.repository;
  const location = await resident(() => catalog.find(oid));
  if (!location) return undefined;
  if (catalog.isByBlock) {
    // A set of all that refs reach would read the lists of all commits.
    const kind = await snapshot.repository.reachableFrom(snapshot.state).find(oid);
    return kind === undefined ? undefined : location;
  }
  const { refs, loadPullRefs } = snapshot.state;
  const isReached = (from: readonly StoredRef[]): boolean =>
    findReachable(
      catalog,
      graph,
      from.map((ref) => ref.oid),
    ).has(location);
  return isReached(refs) || isReached(await loadPullRefs()) ? location : undefined;
}

/**
 * Resolves a branch, a tag, a commit id, or the id of a tag object or tree, to a tree. `isPinned`
 * states whether the text always resolves to the same tree.
 */
export async function findTree(
  snapshot: RepositorySnapshot,
  text: string,
): Promise<{ location: ObjectLocation; isPinned: boolean } | undefined> {
  const { catalog, graph } = snapshot.repository;
  const revision = await findRevision(snapshot, text);
  if (revision) {
    const root = await graph.loadRoot(revision.node);
    return root && { location: root, isPinned: isPinned(revision, text) };
  }
  const found = await findObject(snapshot, text);
  return resident(() => {
    const location = found && catalog.kind(found) === TAG ? peel(catalog, found) : found;
    if (!location) return undefined;
    const isCommit = catalog.kind(location) === COMMIT;
    const tree = isCommit ? graph.root(graph.nodeAt(location)) : location;
    return tree && catalog.kind(tree) === TREE ? { location: tree, isPinned: true } : undefined;
  });
}
