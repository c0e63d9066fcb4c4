import { and, eq, gt, sql, type SQL } from "drizzle-orm";

import type { Database } from "../db/db.ts";
import { type Params, prepare } from "../db/prepared.ts";
import { sessions, users, type Session } from "../db/schema/index.ts";
import { hashSecret } from "./secret.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a session lasts at most, in milliseconds. */
export const SESSION_LIFE_MS = 30 * DAY_MS;
/** How long a session lasts without a request, in milliseconds. */
const SESSION_IDLE_MS = 14 * DAY_MS;
/**
 * Maximum lag of `last_used_at`, in milliseconds: a write for each page would cost more than the
 * page.
 */
const LAG_MS = 5 * 60 * 1000;

/**
 * Matches the session of the hash of a cookie's secret while it lasts.
 *
 * SECURITY: an account that may not sign in has no session. The condition decides it, not the code
 * that reads the row, so that a query in the same batch sees the same caller.
 */
export function isSessionOf(secretHash: string | SQL, now: number | SQL): SQL {
  const mayCall = sql`exists (
    select 1
    from ${users}
    where ${users.id} = ${sessions.userId}
      and ${users.isActive}
      and not ${users.isLoginProhibited}
      and not ${users.mustChangePassword}
  )`;
  return sql`(${and(eq(sessions.secretHash, secretHash), isCurrent(now), mayCall)})`;
}

/** Matches sessions that have ended neither by age nor by disuse. */
export function isCurrent(now: number | SQL): SQL {
  const idleFrom = sql`${now} - ${SESSION_IDLE_MS}`;
  return sql`(${and(gt(sessions.expiresAt, now), gt(sessions.lastUsedAt, idleFrom))})`;
}

/**
 * Records that a session was used, at most every five minutes; returns undefined when no write is
 * due.
 */
export function noteSessionUse(
  db: Database,
  session: Session,
  now: number,
): Promise<unknown> | undefined {
  if (session.lastUsedAt > now - LAG_MS) return undefined;
  return noteUse(db, { id: session.id, now }).execute();
}

const noteUse = prepare((db, p: Params<{ id: number; now: number }>) =>
  db.update(sessions).set({ lastUsedAt: p.now }).where(eq(sessions.id, p.id)),
);

/**
 * The token that a form of a page must send, besides its cookie.
 *
 * SECURITY: a page of another origin can neither read the cookie nor this digest of it.
 *
 * @param cookieSecret The secret in the cookie that the browser sends with the form.
 */
export const makeFormToken = (cookieSecret: string): Promise<string> =>
  hashSecret(`form ${cookieSecret}`);
