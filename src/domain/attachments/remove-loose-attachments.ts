import { asc, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { attachmentLooseFiles } from "../../db/schema/index.ts";

/** How long a file is kept after its row expired, in milliseconds, to tolerate clock skew. */
const GRACE_MS = 60 * 60 * 1000;

/** Files deleted per bucket call. */
const FILES_AT_ONCE = 1000;
/** Maximum bucket calls per run; the next run continues. */
const ROUNDS_MAX = 20;

/**
 * Deletes the files of deleted attachments and of uploads that did not end, with their rows. Idempotent, also
 * concurrently.
 */
export async function removeLooseAttachments({ db, git, now }: Ctx): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const files = await db
      .select()
      .from(attachmentLooseFiles)
      .where(lte(attachmentLooseFiles.expiresAt, now - GRACE_MS))
      .orderBy(asc(attachmentLooseFiles.expiresAt))
      .limit(FILES_AT_ONCE);
    if (files.length === 0) return;
    const uuids = files.map(({ uuid }) => uuid);
    await git.attachmentFiles.delete(uuids);
    const list = JSON.stringify(uuids);
    await db
      .delete(attachmentLooseFiles)
      .where(sql`${attachmentLooseFiles.uuid} in (select value from json_each(${list}))`);
  }
}
