import { and, eq, ne, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { pendingSignIns, sessions, type Session } from "../../db/schema/index.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";

/**
 * The statements that end all sessions of a user, and sign-ins under way, for the batch of a change after which nobody
 * may go on with what the former password or second factor opened.
 *
 * @param userId SQL for an account that the same batch finds.
 * @param kept The session of the request, which continues.
 */
export function endSessions(db: Database, userId: number | SQL, kept?: Session) {
  const isOther = kept && ne(sessions.id, kept.id);
  return [
    db.delete(sessions).where(and(eq(sessions.userId, userId), isOther)),
    db.delete(pendingSignIns).where(eq(pendingSignIns.userId, userId)),
  ] as const;
}

/** Ends one session of a user. */
export async function endSession(ctx: Ctx, userId: number, id: number): Promise<void> {
  await endMatching(ctx, userId, eq(sessions.id, id));
}

/** Ends all sessions of a user but this one. */
export async function endOtherSessions(ctx: Ctx, { userId, id }: Session): Promise<void> {
  await endMatching(ctx, userId, ne(sessions.id, id));
}

async function endMatching(ctx: Ctx, userId: number, isEnded: SQL): Promise<void> {
  await ctx.db.batch([
    ctx.db.delete(sessions).where(and(eq(sessions.userId, userId), isEnded)),
    recordAuditIfChanged(ctx, { kind: "session.ended", ownerId: userId }),
  ]);
}
