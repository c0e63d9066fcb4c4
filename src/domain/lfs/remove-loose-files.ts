import { and, asc, eq, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { lfsLooseFiles } from "../../db/schema/index.ts";

/** How long after its end an upload's file stays: for clocks that differ, in milliseconds. */
const GRACE_MS = 60 * 60 * 1000;

/** Files that one call removes, of the bucket's calls. */
const FILES_AT_ONCE = 1000;
/** Calls of one run; the next one goes on. */
const ROUNDS_MAX = 20;

/**
 * Removes large files that no repository has any more, or ever had, with their notes. It may be
 * done twice and by several at once.
 *
 * @param networkName Of one fork network only.
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
