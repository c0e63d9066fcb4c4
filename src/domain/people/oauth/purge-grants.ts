import { inArray, lte } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { oauthGrants } from "../../../db/schema/index.ts";

/** Grants deleted by one run of the schedule; the next run continues. */
const PURGED_MAX = 1000;

/**
 * Deletes grants whose code was never exchanged, or whose refresh token expired, with their access
 * tokens.
 */
export async function purgeGrants({ db, now }: Ctx): Promise<void> {
  const expired = db
    .select({ id: oauthGrants.id })
    .from(oauthGrants)
    .where(lte(oauthGrants.expiresAt, now))
    .limit(PURGED_MAX);
  await db.delete(oauthGrants).where(inArray(oauthGrants.id, expired));
}
