import { and, eq, ne, type SQL } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { pendingSignIns, sessions, type Session } from "../../db/schema/index.ts";

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
export async function endSession(db: Database, userId: number, id: number): Promise<void> {
  await db.delete(sessions).where(and(eq(sessions.userId, userId), eq(sessions.id, id)));
}

/** Ends all sessions of a user but this one. */
export async function endOtherSessions(db: Database, { userId, id }: Session): Promise<void> {
  await db.delete(sessions).where(and(eq(sessions.userId, userId), ne(sessions.id, id)));
}
