import { and, asc, eq, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { repositories } from "../../../db/schema/index.ts";
import { KeptObjects } from "../../../git/walk/kept-objects.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type {
  CollectionEpoch,
  CollectionView,
  RepositoryLocation,
} from "../../../storage/repository-records.ts";
import type { StoredRepository } from "../../../storage/storage.ts";

/** Repositories of a network that one search asks. */
const MEMBERS_MAX = 5000;
/** Number of them asked concurrently. */
const MEMBERS_AT_ONCE = 50;

/** Another repository of the network that lists packs of the searched one. */
export interface NetworkMember {
  readonly id: number;
  readonly stored: StoredRepository;
  readonly packNames: ReadonlySet<string>;
  readonly epoch: CollectionEpoch;
}

/** The result of a search about a repository's packs. */
export interface ObjectSearch {
  readonly kept: KeptObjects;
  /**
   * Repositories that list any of its shared packs; undefined if there are too many to ask.
   */
  readonly members: readonly NetworkMember[] | undefined;
}

/**
 * Finds what is to stay of the packs of a repository: what its refs reach, and what they reached
 * until after `since`; for packs that it shares, also what other repositories of the network reach
 * that list them.
 *
 * Cost: the tables of all packs, and a call for each repository of the network where shared packs
 * would lose anything. A fork whose refs lead to nothing new costs nothing else; another one its
 * own packs, and a walk of its new commits.
 *
 * @throws GitError `missing` if a ref leads to what does not exist.
 */
export async function findKept(
  ctx: Ctx,
  location: RepositoryLocation,
  stored: StoredRepository,
  view: CollectionView,
  since: number,
): Promise<ObjectSearch> {
  const repository = await stored.open(view);
  const kept = new KeptObjects(repository.catalog);
  await kept.addReachable(repository, view.tipOids, true);
  const losing = view.packs.filter((_, pack) => kept.countLost(pack).objectCount > 0);
  const names = view.sharedNames.filter((name) => losing.some((pack) => pack.name === name));
  const rows = names.length > 0 ? await listNetwork(ctx, location) : [];
  const members: NetworkMember[] = [];
  for (let at = 0; at < rows.length && rows.length <= MEMBERS_MAX; at += MEMBERS_AT_ONCE) {
    const asked = rows.slice(at, at + MEMBERS_AT_ONCE).map(async ({ id, objectName }) => {
      const member = ctx.git.repository({ objectName, networkName: location.networkName });
      return { id, stored: member, view: await member.joinCollection(names, since) };
    });
    // Views are not kept: together, the refs of all repositories need not fit in memory.
    for (const { id, stored: member, view: other } of await Promise.all(asked)) {
      if (!other) continue;
      await addMember(kept, member, { repository, view }, other, since);
      const packNames = new Set(other.packs.map(({ name }) => name));
      members.push({ id, stored: member, packNames, epoch: other.epoch });
    }
  }
  await addFormer(kept, stored, repository, view, since);
  kept.addLargeBases();
  return { kept, members: rows.length <= MEMBERS_MAX ? members : undefined };
}

/** Keeps what another repository reaches, or reached. */
async function addMember(
  kept: KeptObjects,
  member: StoredRepository,
  searched: { readonly repository: OpenRepository; readonly view: CollectionView },
  other: CollectionView,
  since: number,
): Promise<void> {
  const tipOids = other.tipOids.filter((oid) => !kept.has(oid));
  if (tipOids.length === 0 && other.former.oids.length === 0) return;
  const names = new Set(searched.view.packs.map(({ name }) => name));
  const packs = other.packs.filter(({ name }) => !names.has(name));
  const repository = await member.openMore(searched.repository, packs);
  await kept.addReachable(repository, tipOids, true);
  await addFormer(kept, member, repository, other, since);
}

async function addFormer(
  kept: KeptObjects,
  stored: StoredRepository,
  repository: OpenRepository,
  { former }: CollectionView,
  since: number,
): Promise<void> {
  for await (const oids of stored.listFormerOids(former, since)) {
    await kept.addReachable(repository, oids, false);
  }
}

/**
 * Lists the other repositories of a network, by id; one more than can be asked if there are more.
 */
const listNetwork = ({ db }: Ctx, { objectName, networkName }: RepositoryLocation) =>
  db
    .select({ id: repositories.id, objectName: repositories.objectName })
    .from(repositories)
    .where(and(eq(repositories.networkName, networkName), ne(repositories.objectName, objectName)))
    .orderBy(asc(repositories.id))
    .limit(MEMBERS_MAX + 1);
