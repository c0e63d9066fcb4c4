import { and, asc, eq, gt } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { lfsLocks, type Repository } from "../../../db/schema/index.ts";
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
  { limit, ...query }: LockQuery,
): Promise<{ locks: LockEntry[]; nextId: number | undefined }> {
  // One more, to know whether there is another page.
  const found = await locksAfter(db, { repoId: repo.id, ...query, limit: limit + 1 });
  const locks = found.slice(0, limit);
  return { locks, nextId: found.length > limit ? locks.at(-1)?.lock.id : undefined };
}

const locksAfter = prepare((db, p: Params<LockQuery & { repoId: number }>) =>
  selectLocks(
    db,
    p.repoId,
    and(
      gt(lfsLocks.id, p.afterId),
      p.id && eq(lfsLocks.id, p.id),
      p.path && eq(lfsLocks.path, p.path),
    ),
  )
    .orderBy(asc(lfsLocks.id))
    .limit(p.limit),
);
