import { and, eq, isNull, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import type { Database } from "../../../db/db.ts";
import {
  oauthGrants,
  pendingSignIns,
  sessions,
  totpSecrets,
  type Session,
} from "../../../db/schema/index.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";

/**
 * The statements that end all sessions of a user, sign-ins under way, codes for applications that
 * were not exchanged yet, and the secret of an authenticator app that waits for its first code. A
 * change of the password or of the account's state does the same by a trigger.
 *
 * @param kept The session of the request, which continues.
 */
export function endSessionStatements(db: Database, userId: number, kept?: Session) {
  const isOther = kept && ne(sessions.id, kept.id);
  const isUnused = and(eq(oauthGrants.userId, userId), isNull(oauthGrants.exchangedAt));
  const isWaiting = and(eq(totpSecrets.userId, userId), eq(totpSecrets.isEnabled, false));
  return [
    db.delete(sessions).where(and(eq(sessions.userId, userId), isOther)),
    db.delete(pendingSignIns).where(eq(pendingSignIns.userId, userId)),
    db.delete(oauthGrants).where(isUnused),
    db.delete(totpSecrets).where(isWaiting),
  ] as const;
}

/** Ends one session of a user. */
export async function endSession(ctx: Ctx, userId: number, id: number): Promise<void> {
  await ctx.db.batch([
    ctx.db.delete(sessions).where(and(eq(sessions.userId, userId), eq(sessions.id, id))),
    recordEnd(ctx, userId),
  ]);
}

/** Ends all sessions of a user but this one, and the sign-ins under way. */
export async function endOtherSessions(ctx: Ctx, session: Session): Promise<void> {
  const { userId } = session;
  const [endOthers, ...endMore] = endSessionStatements(ctx.db, userId, session);
  await ctx.db.batch([endOthers, recordEnd(ctx, userId), ...endMore]);
}

const recordEnd = (ctx: Ctx, ownerId: number) =>
  recordAuditIfChanged(ctx, { kind: "session.ended", ownerId });
