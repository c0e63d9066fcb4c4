import { and, desc, inArray, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { oauthApplications, oauthGrants } from "../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long a client that no person registered is kept, if nobody grants it anything. */
export const UNGRANTED_LIFE_MS = 7 * DAY_MS;

/** After how long it is looked at again whether such a client is still granted something. */
const GRANTED_LIFE_MS = 30 * DAY_MS;

/** Such clients that are kept without a grant; the oldest of more are removed. */
const UNGRANTED_MAX = 10_000;

/** Applications that one run of the schedule looks at; the next run continues. */
const PURGED_MAX = 5000;

/**
 * Removes clients that no person registered and to which nobody grants anything: the expired ones,
 * and the oldest of too many.
 *
 * @param keptMax Clients that are kept.
 */
export async function purgeApplications(
  { db, now }: Ctx,
  keptMax: number = UNGRANTED_MAX,
): Promise<void> {
  const isGranted = sql`exists (
    select 1 from ${oauthGrants} where ${oauthGrants.applicationId} = ${oauthApplications.id}
  )`;
  const due = db
    .select({ id: oauthApplications.id })
    .from(oauthApplications)
    .where(lte(oauthApplications.expiresAt, now))
    .orderBy(oauthApplications.expiresAt)
    .limit(PURGED_MAX);
  const surplus = db
    .select({ id: oauthApplications.id })
    .from(oauthApplications)
    .where(lte(oauthApplications.expiresAt, now + UNGRANTED_LIFE_MS))
    .orderBy(desc(oauthApplications.expiresAt))
    .limit(PURGED_MAX)
    .offset(keptMax);
  await db.batch([
    db
      .delete(oauthApplications)
      .where(and(inArray(oauthApplications.id, due), sql`not ${isGranted}`)),
    db
      .update(oauthApplications)
      .set({ expiresAt: now + GRANTED_LIFE_MS })
      .where(and(inArray(oauthApplications.id, due), isGranted)),
    db
      .delete(oauthApplications)
      .where(and(inArray(oauthApplications.id, surplus), sql`not ${isGranted}`)),
  ]);
}
