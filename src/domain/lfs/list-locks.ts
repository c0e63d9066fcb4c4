import { and, asc, eq, gt } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { lfsLocks, type Repository } from "../../db/schema/index.ts";
import { type LockEntry, selectLocks } from "./find-lock.ts";

/** Filters and cursor of a lock listing. */
export interface LockQuery {
  id?: number | undefined;
  path?: string | undefined;
  /** Cursor: the page starts after the lock with this id. */
  afterId: number;
  limit: number;
}

/**
 * Lists locks of a repository, oldest first.
 *
 * @returns A page, and the cursor of the next one; undefined on the last page.
 */
export async function listLocks(
  { db }: Ctx,
  repo: Repository,
  { id, path, afterId, limit }: LockQuery,
): Promise<{ locks: LockEntry[]; nextId: number | undefined }> {
  const isRequested = and(
    gt(lfsLocks.id, afterId),
    id === undefined ? undefined : eq(lfsLocks.id, id),
    path === undefined ? undefined : eq(lfsLocks.path, path),
  );
  const found = await selectLocks(db, repo, isRequested)
    .orderBy(asc(lfsLocks.id))
    .limit(limit + 1);
  const locks = found.slice(0, limit);
  return { locks, nextId: found.length > limit ? locks.at(-1)?.lock.id : undefined };
}
