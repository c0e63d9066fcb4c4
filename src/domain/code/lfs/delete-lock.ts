import { and, eq } from "drizzle-orm";

import { requirePathInReach } from "../../../auth/access/credential-reach.ts";
import type { Ctx } from "../../../context.ts";
import { lfsLocks, type Repository, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import { findLock, type LockEntry } from "./find-lock.ts";

/**
 * Deletes a lock: the user's own, or any lock with `isForced`.
 *
 * @returns The deleted lock.
 * @throws BeyondToken for a path to which the caller's token is not bound.
 * @throws Failure `not_found` if the repository has no such lock, `forbidden` for another user's
 * lock without force.
 */
export async function deleteLock(
  ctx: Ctx,
  repo: Repository,
  user: User,
  id: number,
  isForced: boolean,
): Promise<LockEntry> {
  const entry = await findLock(ctx, repo, id);
  if (!entry) throw notFound("there is no such lock");
  const { path, ownerId: lockerId } = entry.lock;
  requirePathInReach(ctx.actor, encodeText(path));
  if (lockerId !== user.id && !isForced) {
    throw forbidden(`the lock belongs to ${entry.ownerName}: only force takes it away`);
  }
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    ctx.db.delete(lfsLocks).where(and(eq(lfsLocks.id, id), eq(lfsLocks.repoId, repoId))),
    recordIfChanged(ctx, { type: "lfs_lock.deleted", repoId, ownerId, path }),
  ]);
  return entry;
}
