import { and, eq, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { columnsOf, type Database } from "../../../db/db.ts";
import { lfsLocks, type LfsLock, type Repository, users } from "../../../db/schema/index.ts";

/** A lock with the name of its owner. */
export interface LockEntry {
  lock: LfsLock;
  ownerName: string;
}

/** Selects locks of a repository with the names of their owners. */
export const selectLocks = (db: Database, repoId: number | SQL, where?: SQL) =>
  db
    .select({ lock: columnsOf(lfsLocks, "l"), ownerName: users.name })
    .from(lfsLocks)
    .innerJoin(users, eq(users.id, lfsLocks.ownerId))
    .where(and(eq(lfsLocks.repoId, repoId), where))
    .$dynamic();

/** SECURITY: finds a lock of this repository only, since lock ids are global. */
export async function findLock(
  { db }: Ctx,
  repo: Repository,
  id: number,
): Promise<LockEntry | undefined> {
  const [found] = await selectLocks(db, repo.id, eq(lfsLocks.id, id));
  return found;
}
