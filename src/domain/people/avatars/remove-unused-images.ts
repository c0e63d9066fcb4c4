import { asc, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { avatarImages } from "../../../db/schema/index.ts";

/**
 * How long a file is kept after it expired, in milliseconds: clocks differ, and caches may still be
 * filled from it.
 */
const GRACE_MS = 60 * 60 * 1000;

/** Files deleted per bucket call. */
const FILES_AT_ONCE = 1000;
/** Maximum bucket calls per run; the next run continues. */
const ROUNDS_MAX = 20;

/**
 * Deletes the images of avatars to which nothing refers, with their rows. Idempotent, also
 * concurrently.
 */
export async function removeUnusedImages({ db, git, now }: Ctx): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const images = await db
      .select({ hash: avatarImages.hash, uploadId: avatarImages.uploadId })
      .from(avatarImages)
      .where(lte(avatarImages.expiresAt, now - GRACE_MS))
      .orderBy(asc(avatarImages.expiresAt))
      .limit(FILES_AT_ONCE);
    if (images.length === 0) return;
    await git.avatarFiles.delete(images);
    const uploadIds = JSON.stringify(images.map(({ uploadId }) => uploadId));
    await db
      .delete(avatarImages)
      .where(sql`${avatarImages.uploadId} in (select value from json_each(${uploadIds}))`);
  }
}
