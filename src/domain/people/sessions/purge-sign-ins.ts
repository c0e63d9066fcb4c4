import { lte, not } from "drizzle-orm";

import { isCurrent } from "../../../auth/session.ts";
import type { Ctx } from "../../../context.ts";
import { mailedCodes, pendingSignIns, registrations, sessions } from "../../../db/schema/index.ts";

/** Deletes sessions, sign-ins under way, mailed codes and registrations that have ended. */
export async function purgeSignIns({ db, now }: Ctx): Promise<void> {
  await db.batch([
    db.delete(sessions).where(not(isCurrent(now))),
    db.delete(pendingSignIns).where(lte(pendingSignIns.expiresAt, now)),
    db.delete(mailedCodes).where(lte(mailedCodes.expiresAt, now)),
    db.delete(registrations).where(lte(registrations.expiresAt, now)),
  ]);
}
