import { and, desc, eq } from "drizzle-orm";

import { isCurrent } from "../../../auth/session.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { sessions, type Session, type User } from "../../../db/schema/index.ts";

/** Lists a user's sessions, the one used last first. There are at most 50 (`startSession`). */
export const listSessions = async ({ db, now }: Ctx, user: User): Promise<Session[]> =>
  sessionsOf(db, { userId: user.id, now });

const sessionsOf = prepare((db, { userId, now }: Params<{ userId: number; now: number }>) =>
  db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isCurrent(now)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id)),
);
