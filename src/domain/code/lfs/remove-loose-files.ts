import { and, asc, eq, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { lfsLooseFiles } from "../../../db/schema/index.ts";

/**
 * How long an upload's file is kept after the upload expired, in milliseconds, to tolerate clock
 * skew.
 */
const GRACE_MS = 60 * 60 * 1000;

/** Files deleted per bucket call. */
const FILES_AT_ONCE = 1000;
/** Maximum bucket calls per run; the next run continues. */
const ROUNDS_MAX = 20;

/**
 * Deletes the files of expired uploads and of deleted LFS objects, with their rows in
 * `lfs_loose_files`. Idempotent, also concurrently.
 *
 * @param networkName Restricts the purge to one fork network.
 */
export async function removeLooseFiles({ db, git, now }: Ctx, networkName?: string): Promise<void> {
  const isDue = and(
    lte(lfsLooseFiles.expiresAt, now - GRACE_MS),
    networkName === undefined ? undefined : eq(lfsLooseFiles.networkName, networkName),
  );
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const files = await db
      .select()
      .from(lfsLooseFiles)
      .where(isDue)
      .orderBy(asc(lfsLooseFiles.expiresAt))
      .limit(FILES_AT_ONCE);
    if (files.length === 0) return;
    await git.largeFiles.delete(files);
    const uploadIds = JSON.stringify(files.map(({ uploadId }) => uploadId));
    await db
      .delete(lfsLooseFiles)
      .where(sql`${lfsLooseFiles.uploadId} in (select value from json_each(${uploadIds}))`);
  }
}
