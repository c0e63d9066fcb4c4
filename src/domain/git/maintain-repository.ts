import { and, asc, eq, ne } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { discardedObjects, type Repository, repositories } from "../../db/schema/index.ts";
import { findMerge } from "../../git/pack/find-merge.ts";
import { log } from "../../lib/log.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type {
  OutboxEntry,
  RepositoryLocation,
  RetiredPack,
  Work,
} from "../../storage/repository-records.ts";
import type { StoredRepository } from "../../storage/storage.ts";
import { removeLooseFiles } from "../lfs/remove-loose-files.ts";
import { listPushedCommits, type PushOrigin } from "./list-pushed-commits.ts";
import { recordPush } from "./record-push.ts";

/** Maximum repositories of a fork network that are checked for references to a pack. */
const MEMBERS_MAX = 5000;
/** Number of them checked concurrently. */
const MEMBERS_AT_ONCE = 50;

/**
 * Does a repository's pending maintenance: records events of pushes that are still in the outbox, merges
 * packs, and deletes unneeded packs and the uploads of aborted pushes. For a deleted repository, or a fork
 * whose creation failed, it deletes everything.
 *
 * Safe to run at any time, repeatedly and concurrently: each step is marked as done only after it completed, and
 * is idempotent.
 */
export async function maintainRepository(ctx: Ctx, location: RepositoryLocation): Promise<void> {
  const { db, now } = ctx;
  const stored = ctx.git.repository(location);
  const [repo] = await db
    .select({ id: repositories.id, ownerId: repositories.ownerId })
    .from(repositories)
    .where(eq(repositories.objectName, location.objectName));
  if (!repo) await stored.discard(now);
  const work = await stored.listWork(now);
  if (repo) {
    for (const entry of work.outbox) {
      let opened: ReturnType<typeof openPush> | undefined;
      await recordPush(ctx, repo, entry, work.summary, stored.listUpdates(entry), async (page) => {
        const { repository, origin } = await (opened ??= openPush(stored, entry, work));
        return listPushedCommits(repository, origin, page);
      });
    }
    if (work.isChanged) await stored.saveRefs(await stored.snapshot());
  } else {
    await stored.forgetRefs();
  }
  const isDone = await removeFiles(ctx, location, stored, work);
  if (repo) {
    await mergePacks(ctx, repo, stored, work);
  } else if (isDone) {
    await removeLooseFiles(ctx, location.networkName);
    await stored.destroy();
    await db.delete(discardedObjects).where(eq(discardedObjects.objectName, location.objectName));
  }
}

/** Opens a repository for the commits of a push that was not recorded in time. */
async function openPush(
  stored: StoredRepository,
  entry: OutboxEntry,
  { summary: { head } }: Work,
): Promise<{ repository: OpenRepository; origin: PushOrigin }> {
  const [snapshot, earlierHeads] = await Promise.all([
    stored.snapshot("none"),
    stored.listEarlierHeads(entry),
  ]);
  const packNumber = snapshot.packs.findIndex(({ name }) => name === entry.packName);
  return {
    repository: await stored.open(snapshot),
    origin: { packNumber, earlierHeads, head },
  };
}

/** Deletes unneeded files, then marks the work as done. Returns true if no other work is pending. */
async function removeFiles(
  ctx: Ctx,
  location: RepositoryLocation,
  stored: StoredRepository,
  { version, outbox, uploadIds, retired }: Work,
): Promise<boolean> {
  await stored.deleteUploads(uploadIds);
  await stored.deletePacks(await findUnneeded(ctx, location, retired));
  return stored.finishWork({
    version,
    pushIds: outbox.map(({ pushId }) => pushId),
    uploadIds,
    // Including packs that another repository still needs: that repository deletes them later.
    retiredNames: retired.map(({ name }) => name),
  });
}

/**
 * Finds the packs among `retired` that no other repository of the fork network needs.
 *
 * SECURITY: a fork is inserted into the table only after its Durable Object lists its packs, and can't be
 * created once its parent is gone from the table. So every repository that may need a pack is checked, and no
 * fork loses objects.
 */
async function findUnneeded(
  { db, git, now }: Ctx,
  { objectName, networkName }: RepositoryLocation,
  retired: readonly RetiredPack[],
): Promise<string[]> {
  const own = retired.filter(({ isShared }) => !isShared).map(({ name }) => name);
  const shared = new Set(retired.filter(({ isShared }) => isShared).map(({ name }) => name));
  if (shared.size === 0) return own;

  const members = await db
    .select({ objectName: repositories.objectName })
    .from(repositories)
    .where(and(eq(repositories.networkName, networkName), ne(repositories.objectName, objectName)))
    .orderBy(asc(repositories.id))
    .limit(MEMBERS_MAX + 1);
  if (members.length > MEMBERS_MAX) {
    log("maintenance:network-too-large", { networkName, packs: shared.size });
    return own;
  }
  for (let at = 0; at < members.length && shared.size > 0; at += MEMBERS_AT_ONCE) {
    const chunk = members.slice(at, at + MEMBERS_AT_ONCE);
    const needed = await Promise.all(
      chunk.map((member) => git.repository({ ...member, networkName }).findHeld([...shared], now)),
    );
    for (const name of needed.flat()) shared.delete(name);
  }
  return [...own, ...shared];
}

async function mergePacks(
  { db, now }: Ctx,
  { id: repoId }: Pick<Repository, "id">,
  stored: StoredRepository,
  { packs }: Work,
): Promise<void> {
  const first = findMerge(packs);
  if (first === undefined) return;
  const outcome = await stored.mergePacks(packs.slice(first), now);
  log("maintenance:merged", {
    repoId,
    packs: packs.length - first,
    left: first + 1,
    kind: outcome.kind,
  });
  if (outcome.kind === "stale") return;
  const sizeBytes = outcome.packBytes;
  await db.update(repositories).set({ sizeBytes }).where(eq(repositories.id, repoId));
}
