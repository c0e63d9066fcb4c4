import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { discardedObjects, repositories } from "../../../db/schema/index.ts";
import { findJoin } from "../../../git/join/find-join.ts";
import { findMerge } from "../../../git/pack/find-merge.ts";
import { log } from "../../../lib/log.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { OutboxEntry, RepositoryLocation, Work } from "../../../storage/repository-records.ts";
import type { StoredRepository } from "../../../storage/storage.ts";
import { removeLooseFiles } from "../lfs/remove-loose-files.ts";
import { recordWikiPush } from "./record-wiki-push.ts";
import { findForks } from "./find-forks.ts";
import { findUnneeded } from "./find-unneeded.ts";
import { listPushedCommits, type PushOrigin } from "./list-pushed-commits.ts";
import { recordPush } from "./record-push.ts";
import { findByObject, type StorageOwner, toSize } from "./storage-owner.ts";

/**
 * Does a repository's pending maintenance: records events of pushes that are still in the outbox,
 * merges packs, forgets forks that were never created, and deletes unneeded packs and the uploads
 * of aborted pushes. For a deleted repository it deletes everything, once its forks have taken
 * over.
 *
 * Safe to run at any time, repeatedly and concurrently: each step is marked as done only after it
 * completed, and is idempotent.
 */
export async function maintainRepository(ctx: Ctx, location: RepositoryLocation): Promise<void> {
  const { db, now } = ctx;
  const stored = ctx.git.repository(location);
  const repo = await findByObject(db, location.objectName);
  if (!repo) await stored.discard(now);
  const work = await stored.listWork(now);
  if (repo) {
    for (const entry of work.outbox) {
      let opened: ReturnType<typeof openPush> | undefined;
      if (repo.isWiki) {
        const updates = stored.listUpdates(entry);
        await recordWikiPush(ctx, repo, entry, work.summary, updates, async () => {
          const { repository } = await (opened ??= openPush(stored, entry, work));
          return repository;
        });
        continue;
      }
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
    repository: await stored.openByBlock(snapshot),
    origin: { packNumber, earlierHeads, head },
  };
}

/**
 * Deletes unneeded files, then marks the work as done. Returns true if no other work is pending.
 */
async function removeFiles(
  ctx: Ctx,
  location: RepositoryLocation,
  stored: StoredRepository,
  work: Work,
): Promise<boolean> {
  const { version, outbox, uploadIds, retired, inquiry } = work;
  const forks = await findForks(ctx, location, work);
  await stored.deleteUploads(uploadIds);
  const found = await findUnneeded(ctx, location, retired, inquiry);
  await stored.deletePacks(found.unneeded);
  const { graceMs, intervalMs } = ctx.config.gitCollection;
  const isDone = await stored.finishWork({
    version,
    pushIds: outbox.map(({ pushId }) => pushId),
    uploadIds,
    retiredNames: found.decided,
    ...forks,
    inquiry: found.inquiry,
    policy: { graceMs, intervalMs },
  });
  if (found.inquiry) await ctx.git.maintainLater(location);
  return isDone;
}

async function mergePacks(
  { db, now }: Ctx,
  { id: repoId, isWiki }: StorageOwner,
  stored: StoredRepository,
  { packs }: Work,
): Promise<void> {
  const first = findMerge(packs);
  const large = first === undefined ? findJoin(packs) : undefined;
  const chosen = large ? packs.slice(large.from, large.to) : packs.slice(first ?? packs.length);
  if (chosen.length === 0) return;
  const outcome = large
    ? await stored.joinPacks(chosen, now)
    : await stored.mergePacks(chosen, now);
  log(large ? "maintenance:joined" : "maintenance:merged", {
    repoId,
    packs: chosen.length,
    left: packs.length - chosen.length + 1,
    kind: outcome.kind,
  });
  if (outcome.kind === "stale" || outcome.kind === "unfit") return;
  await db
    .update(repositories)
    .set(toSize(isWiki, outcome.packBytes))
    .where(eq(repositories.id, repoId));
}
