import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { repositories } from "../../../db/schema/index.ts";
import { GitError } from "../../../git/error.ts";
import { MERGE_LIMITS } from "../../../git/pack/find-merge.ts";
import { log } from "../../../lib/log.ts";
import type {
  CollectionEpoch,
  CollectionView,
  PackRecord,
  ReplaceOutcome,
} from "../../../storage/repository-records.ts";
import type { CollectionJob } from "../../../storage/storage-job.ts";
import { findKept, type NetworkMember, type ObjectSearch } from "./find-kept.ts";
import { findByObject, toSize } from "./storage-owner.ts";

/** Bytes of packs that one job writes anew before it leaves the others to the next one. */
const JOB_BYTES_MAX = 2 ** 30;
/** How often a search that somebody asked for begins anew. */
const RETRIES_MAX = 5;
/** Delay until it does where another search runs, in seconds. */
const BUSY_SECONDS = 300;
/** Repositories that take a new pack concurrently. */
const MEMBERS_AT_ONCE = 50;

/** A pack of which objects are removed. */
interface Loss {
  readonly pack: PackRecord;
  /** Whether other repositories may list it. */
  readonly isShared: boolean;
  /** How many objects stay. */
  readonly keptCount: number;
  /** The objects that stay: a bit for each position. */
  readonly bits: Uint32Array;
  readonly lostBytes: number;
}

/** A repository whose packs are replaced. Its `collections` grow with each replacement. */
type Collected = Omit<NetworkMember, "packNames" | "epoch"> & {
  epoch: CollectionEpoch;
  isWiki?: boolean;
};

/** The result of a search for unneeded objects. */
interface Plan {
  readonly losses: Loss[];
  readonly members: readonly (Collected & Pick<NetworkMember, "packNames">)[];
}

/**
 * Removes objects that nothing reaches from the packs of a repository, and from those that it
 * shares with others of its network: each pack that loses enough is written anew, and every
 * repository that lists it lists the new one instead.
 *
 * Reads that have begun go on, since replaced packs are kept for a day. Safe to run at any time,
 * repeatedly and concurrently: each replacement is one transaction, refused if the repository has
 * changed in a way that may reach what is removed.
 *
 * Work beyond `JOB_BYTES_MAX` is queued again.
 */
export async function collectObjects(ctx: Ctx, job: CollectionJob): Promise<void> {
  const { db, git, now, config } = ctx;
  const { objectName, networkName, askedGraceMs } = job;
  const location = { objectName, networkName };
  const row = await findByObject(db, objectName);
  if (!row) return;
  const stored = git.repository(location);
  const since = now - (askedGraceMs ?? config.gitCollection.graceMs);
  const asked = askedGraceMs === undefined ? {} : { askedGraceMs };
  const view = await stored.beginCollection(now, since);
  if (!view) {
    if (askedGraceMs !== undefined) await retry(ctx, job, BUSY_SECONDS);
    return;
  }
  const lostPercent = askedGraceMs === undefined ? config.gitCollection.lostPercent : 0;
  let plan: Plan;
  try {
    plan = toPlan(await findKept(ctx, location, stored, view, since), view, lostPercent);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // A damaged repository loses nothing. It is searched again after the interval.
    log("collection:refused", { repoId: row.id, reason: error.message });
    await stored.endCollection(now, 0);
    return;
  }
  const { losses, members } = plan;
  const repo: Collected = { id: row.id, isWiki: row.isWiki, stored, epoch: view.epoch };
  let [bytes, lostBytes, done] = [0, 0, 0];
  let isStale = false;
  while (done < losses.length && bytes < JOB_BYTES_MAX && !isStale) {
    const loss = losses[done++] as Loss;
    const kind = await replace(ctx, repo, members, loss);
    isStale = kind === "stale";
    if (kind !== "replaced") continue;
    bytes += loss.pack.packBytes;
    lostBytes += loss.lostBytes;
  }
  const left = losses.length - done;
  log("collection:done", {
    repoId: repo.id,
    members: members.length,
    packs: done,
    left,
    lostBytes,
    isStale,
  });
  const isComplete = left === 0 && !isStale;
  await stored.endCollection(isComplete ? now : undefined, since);
  // A search that was due is repeated by the alarm of the object.
  if (isStale && askedGraceMs !== undefined) await retry(ctx, job, 0);
  else if (!isStale && left > 0) await git.collectLater(location, asked);
}

/** Queues a search that somebody asked for once more, as often as it may begin. */
async function retry({ git }: Ctx, job: CollectionJob, delaySeconds: number): Promise<void> {
  const { askedGraceMs, retries = 0 } = job;
  if (retries === RETRIES_MAX || askedGraceMs === undefined) return;
  await git.collectLater(job, { askedGraceMs, retries: retries + 1 }, delaySeconds);
}

const toPlan = (search: ObjectSearch, view: CollectionView, lostPercent: number): Plan => ({
  losses: listLosses(search, view, lostPercent),
  members: [...(search.members ?? [])],
});

/** Lists the packs that lose enough, oldest first. */
function listLosses(
  { kept, members }: ObjectSearch,
  { packs, sharedNames }: CollectionView,
  lostPercent: number,
): Loss[] {
  const losses: Loss[] = [];
  for (const [at, pack] of packs.entries()) {
    const isShared = sharedNames.includes(pack.name);
    if (isShared && !members) {
      log("collection:network-too-large", { pack: pack.name });
      continue;
    }
    const { objectCount, packBytes } = kept.countLost(at);
    if (objectCount === 0 || packBytes * 100 < pack.packBytes * lostPercent) continue;
    const keptCount = pack.objectCount - objectCount;
    const isTooLarge =
      pack.packBytes > MERGE_LIMITS.packBytes || pack.objectCount > MERGE_LIMITS.objectCount;
    if (isTooLarge && keptCount > 0) {
      log("collection:pack-too-large", { pack: pack.name, lostBytes: packBytes });
      continue;
    }
    losses.push({ pack, isShared, keptCount, bits: kept.bitsOf(at), lostBytes: packBytes });
  }
  return losses;
}

/**
 * Replaces a pack in all repositories that list it.
 *
 * SECURITY: another repository holds the new pack first, then the searched one confirms that it
 * still lists it, and marks it as shared, as for packs that a fork takes: no job deletes it in
 * between.
 *
 * @returns `stale` if the searched repository has changed, `failed` if the pack can't be written
 *   anew.
 */
async function replace(
  ctx: Ctx,
  repo: Collected,
  members: Plan["members"],
  { pack: old, isShared, keptCount, bits }: Loss,
): Promise<"replaced" | "stale" | "failed"> {
  const { now } = ctx;
  const sharing = isShared ? members.filter(({ packNames }) => packNames.has(old.name)) : [];
  let made: PackRecord | null = null;
  let outcome: ReplaceOutcome;
  if (keptCount === 0) {
    const gone = { oldName: old.name, pack: null, isShared: false, epoch: repo.epoch };
    outcome = await repo.stored.replaceCollected(gone, now);
  } else {
    const isKept = (position: number): boolean =>
      (((bits[position >>> 5] as number) >>> (position & 31)) & 1) === 1;
    const how = { isShared: sharing.length > 0, epoch: repo.epoch };
    try {
      ({ outcome, pack: made } = await repo.stored.collectPack(old, isKept, how, now));
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      // The others can be collected nevertheless.
      log("collection:failed", { repoId: repo.id, pack: old.name, reason: error.message });
      return "failed";
    }
  }
  if (outcome.kind === "stale") return "stale";
  repo.epoch = nextEpoch(repo.epoch);
  const sizes = new Map([[repo.id, outcome.packBytes]]);
  for (let at = 0; at < sharing.length; at += MEMBERS_AT_ONCE) {
    const chunk = sharing.slice(at, at + MEMBERS_AT_ONCE);
    if (made) {
      const held = [made];
      await Promise.all(chunk.map(({ stored }) => stored.holdPacks(held, now)));
      if ((await repo.stored.shareListed([made.name])).length === 0) break;
    }
    const replacing = chunk.map(async (member) => {
      const taken = { oldName: old.name, pack: made, isShared: true, epoch: member.epoch };
      const replaced = await member.stored.replaceCollected(taken, now);
      if (replaced.kind === "stale") return;
      member.epoch = nextEpoch(member.epoch);
      sizes.set(member.id, replaced.packBytes);
    });
    await Promise.all(replacing);
  }
  await saveSizes(ctx, sizes, repo.isWiki ?? false);
  return "replaced";
}

const nextEpoch = (epoch: CollectionEpoch): CollectionEpoch => ({
  ...epoch,
  collections: epoch.collections + 1,
});

/** @param isWiki Whether they are the sizes of wikis, which share no packs. */
async function saveSizes(
  { db }: Ctx,
  sizes: ReadonlyMap<number, number>,
  isWiki: boolean,
): Promise<void> {
  const updates = Array.from(sizes, ([id, packBytes]) =>
    db.update(repositories).set(toSize(isWiki, packBytes)).where(eq(repositories.id, id)),
  );
  for (let at = 0; at < updates.length; at += MEMBERS_AT_ONCE) {
    const [first, ...others] = updates.slice(at, at + MEMBERS_AT_ONCE);
    if (first) await db.batch([first, ...others]);
  }
}
