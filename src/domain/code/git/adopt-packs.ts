import type { Ctx } from "../../../context.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { conflict } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { PackRecord, Snapshot, StoredRef } from "../../../storage/repository-records.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";
import type { Adopted } from "./push-refs.ts";

/** A repository with a snapshot of it, which was opened side by side with the other one. */
type Side = readonly [RepositoryContext, RepositorySnapshot];

/**
 * Holds the packs of a repository that have new commits and their objects, for another one of its
 * network. No stored byte is copied.
 *
 * SECURITY: first the taker holds the packs, then the giver confirms that it still lists them, and
 * marks them as shared. From then on every job that deletes a pack of the network asks the taker,
 * so no pack is gone when the taker lists it.
 *
 * @param taker The repository that takes; its packs are the first of the common catalog.
 * @param ref The giver's ref that reaches the commits.
 * @throws Failure `conflict` if the giver's packs changed meanwhile.
 */
export async function adoptPacks(
  ctx: Ctx,
  [taker, own]: Side,
  [giver, other]: Side,
  commits: readonly Node[],
  ref: StoredRef,
): Promise<Adopted> {
  const packs = await findLacking(own, other.state, commits);
  if (packs.length > 0) {
    await ctx.git.repository(taker.row).holdPacks(packs, ctx.now);
    const shared = await ctx.git.repository(giver.row).share();
    const listed = new Set(shared.map(({ name }) => name));
    if (!packs.every(({ name }) => listed.has(name))) {
      throw conflict(`${giver.owner.name}/${giver.row.name} changed meanwhile: try again`);
    }
  }
  return { packs, ref, collections: own.state.collections };
}

/** The packs of the giver, in its order, from which the taker needs objects of new commits. */
async function findLacking(
  { state, repository: { graph } }: RepositorySnapshot,
  giver: Snapshot,
  commits: readonly Node[],
): Promise<PackRecord[]> {
  // The catalog has the taker's packs first, then those of the giver that the taker does not list.
  const listed = new Set(state.packs.map(({ name }) => name));
  const others = giver.packs.filter(({ name }) => !listed.has(name));
  const needed = new Set<number>();
  for (const node of commits) {
    needed.add(graph.location(node).pack);
    // Not by homes, which cost a block for each object: a pack more than needed is shared, and not
    // copied.
    await resident(() => {
      graph.visitIntroduced(node, ({ pack }) => void needed.add(pack), true);
    });
  }
  return others.filter((_pack, at) => needed.has(state.packs.length + at));
}
