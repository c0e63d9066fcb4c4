import { asc, lte } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { discardedObjects } from "../../../db/schema/index.ts";
import type { RepositoryLocation } from "../../../storage/repository-records.ts";

/** Time after which the queue message of a deletion counts as lost, in milliseconds. */
const LOST_AFTER_MS = 10 * 60 * 1000;

/** Lists repositories deleted at least 10 minutes ago whose git data still exists, oldest first. */
export function listOrphaned({ db, now }: Ctx, limit: number): Promise<RepositoryLocation[]> {
  return db
    .select({
      objectName: discardedObjects.objectName,
      networkName: discardedObjects.networkName,
    })
    .from(discardedObjects)
    .where(lte(discardedObjects.discardedAt, now - LOST_AFTER_MS))
    .orderBy(asc(discardedObjects.discardedAt))
    .limit(limit);
}
