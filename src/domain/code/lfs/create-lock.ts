import { eq, sql } from "drizzle-orm";

import { requirePathInReach } from "../../../auth/access/credential-reach.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { lfsLocks, type Repository, repositories, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { notFound } from "../../../lib/failure.ts";
import { type LockEntry, selectLocks } from "./find-lock.ts";
import { normalizeLockPath } from "./lock-path.ts";

/**
 * Locks a path for `owner`. Changes nothing if the path is already locked.
 *
 * @returns The lock of the path, and whether it was created by this call.
 * @throws BeyondToken for a path to which the caller's token is not bound.
 * @throws Failure `invalid` for an invalid path, `not_found` if the repository was deleted in the
 *   meantime.
 */
export async function createLock(
  ctx: Ctx,
  repo: Repository,
  owner: User,
  requestedPath: string,
): Promise<{ entry: LockEntry; isNew: boolean }> {
  const path = normalizeLockPath(requestedPath);
  requirePathInReach(ctx.actor, encodeText(path));
  const { id: repoId, ownerId } = repo;
  const { created, locks } = await batch(ctx.db, {
    created: insertSelect(
      ctx.db,
      lfsLocks,
      { repoId: repositories.id, path, ownerId: owner.id, lockedAt: ctx.now },
      sql`from ${repositories} where ${repositories.id} = ${repoId}`,
    )
      .onConflictDoNothing()
      .returning({ id: lfsLocks.id }),
    event: recordIfChanged(ctx, { type: "lfs_lock.created", repoId, ownerId, path }),
    locks: selectLocks(ctx.db, repoId, eq(lfsLocks.path, path)),
  });
  const [entry] = locks;
  if (!entry) throw notFound("Repository not found");
  return { entry, isNew: created.length > 0 };
}
