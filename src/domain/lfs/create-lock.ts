import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { lfsLocks, type Repository, repositories, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import { type LockEntry, selectLocks } from "./find-lock.ts";
import { normalizeLockPath } from "./lock-path.ts";

/**
 * Locks a path for `owner`, unless it is locked, which changes nothing.
 *
 * @returns The lock that the path has, and whether it was made just now.
 * @throws Failure `invalid` for what is no path, `not_found` if the repository was deleted meanwhile.
 */
export async function createLock(
  ctx: Ctx,
  repo: Repository,
  owner: User,
  wantedPath: string,
): Promise<{ entry: LockEntry; isNew: boolean }> {
  const path = normalizeLockPath(wantedPath);
  const { id: repoId, ownerId } = repo;
  const [created, , [entry]] = await ctx.db.batch([
    insertSelect(
      ctx.db,
      lfsLocks,
      { repoId: repositories.id, path, ownerId: owner.id, lockedAt: ctx.now },
      sql`from ${repositories} where ${repositories.id} = ${repoId}`,
    )
      .onConflictDoNothing()
      .returning({ id: lfsLocks.id }),
    recordIfChanged(ctx, { type: "lfs_lock.created", repoId, ownerId, path }),
    selectLocks(ctx.db, repo, eq(lfsLocks.path, path)),
  ]);
  if (!entry) throw notFound("Repository not found");
  return { entry, isNew: created.length > 0 };
}
