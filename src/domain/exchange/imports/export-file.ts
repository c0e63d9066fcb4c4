import { and, eq, lt, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { attachmentLooseFiles } from "../../../db/schema/index.ts";
import { isNoted } from "../../issues/uploads/is-noted.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * How long the file of an export is kept after a job was last at work on its import, in
 * milliseconds.
 */
const KEPT_MS = 7 * DAY_MS;

/**
 * Keeps the file of an export from being removed as long as its import may go on.
 *
 * @returns False if it is no longer here.
 */
export async function keepExportFile({ db }: Ctx, uuid: string): Promise<boolean> {
  // Jobs have no request of their own, and may be at work for long.
  const expiresAt = Date.now() + KEPT_MS;
  const { found } = await batch(db, {
    kept: db
      .update(attachmentLooseFiles)
      .set({ expiresAt })
      .where(
        and(
          eq(attachmentLooseFiles.uuid, uuid),
          isNoted(uuid),
          // A job begins every minute: one write a day is enough.
          lt(attachmentLooseFiles.expiresAt, expiresAt - DAY_MS),
        ),
      ),
    found: db
      .select({ uuid: attachmentLooseFiles.uuid })
      .from(attachmentLooseFiles)
      .where(and(eq(attachmentLooseFiles.uuid, uuid), isNoted(uuid))),
  });
  return found.length > 0;
}

/** The statement that lets the file of an export be removed, if a condition holds. */
export const expireExportFile = ({ db }: Ctx, uuid: string, isOver: SQL = sql`1`) =>
  db
    .update(attachmentLooseFiles)
    .set({ expiresAt: 0 })
    .where(and(eq(attachmentLooseFiles.uuid, uuid), isOver));
