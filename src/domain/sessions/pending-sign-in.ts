import { and, eq, gt, lte } from "drizzle-orm";

import { hashSecret, makeSecret } from "../../auth/secret.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { pendingSignIns, users, type PendingSignIn, type User } from "../../db/schema/index.ts";

/** How long a person may take for the next step of a sign-in, in milliseconds. */
export const PENDING_LIFE_MS = 10 * 60 * 1000;

/** Begins the next step of a sign-in. The secret is returned here and not stored. */
export async function startPendingSignIn(
  { db, now }: Ctx,
  user: User,
  needsFactor: boolean,
): Promise<{ secret: string }> {
  const secret = makeSecret();
  await db.batch([
    db.delete(pendingSignIns).where(lte(pendingSignIns.expiresAt, now)),
    db.insert(pendingSignIns).values({
      secretHash: await hashSecret(secret),
      userId: user.id,
      needsFactor,
      expiresAt: now + PENDING_LIFE_MS,
    }),
  ]);
  return { secret };
}

/** Finds the sign-in under way of a cookie's secret, or undefined once it has ended. */
export async function findPendingSignIn(
  { db, now }: Pick<Ctx, "db" | "now">,
  secret: string,
): Promise<{ pending: PendingSignIn; user: User } | undefined> {
  const [found] = await db
    .select({ pending: columnsOf(pendingSignIns, "p"), user: columnsOf(users, "u") })
    .from(pendingSignIns)
    .innerJoin(users, eq(users.id, pendingSignIns.userId))
    .where(
      and(
        eq(pendingSignIns.secretHash, await hashSecret(secret)),
        gt(pendingSignIns.expiresAt, now),
        eq(users.isActive, true),
        eq(users.isLoginProhibited, false),
      ),
    );
  return found;
}

/**
 * Ends a sign-in under way whose step is done.
 *
 * @returns Whether this call ended it: of two requests at once for the same step, one goes on.
 */
export async function endPendingSignIn(
  { db }: Pick<Ctx, "db">,
  { secretHash }: PendingSignIn,
): Promise<boolean> {
  const ended = await db
    .delete(pendingSignIns)
    .where(eq(pendingSignIns.secretHash, secretHash))
    .returning();
  return ended.length > 0;
}
