import { and, desc, eq } from "drizzle-orm";

import { isCurrent } from "../../auth/session.ts";
import type { Ctx } from "../../context.ts";
import { sessions, type Session, type User } from "../../db/schema/index.ts";

/** Lists a user's sessions, the one used last first. There are at most 50 (`startSession`). */
export const listSessions = ({ db, now }: Ctx, user: User): Promise<Session[]> =>
  db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, user.id), isCurrent(now)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id));
