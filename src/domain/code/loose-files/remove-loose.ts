import { asc, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import type { attachmentLooseFiles, packageLooseFiles } from "../../../db/schema/index.ts";

/** How long a file is kept after its row expired, in milliseconds, to tolerate clock skew. */
const GRACE_MS = 60 * 60 * 1000;

/** Files deleted per bucket call. */
const FILES_AT_ONCE = 1000;
/** Maximum bucket calls per run; the next run continues. */
const ROUNDS_MAX = 20;

/**
 * Deletes files in the object storage that nothing refers to, with the rows that note them.
 * Idempotent, also concurrently.
 */
export async function removeLoose(
  { db, now }: Ctx,
  notes: typeof attachmentLooseFiles | typeof packageLooseFiles,
  files: { delete(uuids: readonly string[]): Promise<void> },
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const due = await db
      .select({ uuid: notes.uuid })
      .from(notes)
      .where(lte(notes.expiresAt, now - GRACE_MS))
      .orderBy(asc(notes.expiresAt))
      .limit(FILES_AT_ONCE);
    if (due.length === 0) return;
    const uuids = due.map(({ uuid }) => uuid);
    await files.delete(uuids);
    const list = JSON.stringify(uuids);
    await db.delete(notes).where(sql`${notes.uuid} in (select value from json_each(${list}))`);
  }
}
