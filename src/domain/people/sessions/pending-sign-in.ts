import { and, eq, gt, lte, sql, type SQL } from "drizzle-orm";

import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { credentialEnded } from "../../../auth/current-credential.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { pendingSignIns, users, type PendingSignIn, type User } from "../../../db/schema/index.ts";
import { fromSameSignIn } from "./same-sign-in.ts";

/** How long a person may take for the next step of a sign-in, in milliseconds. */
export const PENDING_LIFE_MS = 10 * 60 * 1000;

/**
 * Begins the next step of a sign-in. The secret is returned here and not stored.
 *
 * @throws Failure `unauthenticated` if the account's password, second factors or state changed
 *   since `user` was read.
 */
export async function startPendingSignIn(
  { db, now }: Ctx,
  user: User,
  needsFactor: boolean,
): Promise<{ secret: string }> {
  const secret = makeSecret();
  const row = {
    secretHash: await hashSecret(secret),
    userId: user.id,
    needsFactor,
    expiresAt: now + PENDING_LIFE_MS,
  };
  const { started } = await batch(db, {
    expired: db.delete(pendingSignIns).where(lte(pendingSignIns.expiresAt, now)),
    started: insertSelect(db, pendingSignIns, row, fromSameSignIn(user)).returning(),
  });
  if (started.length === 0) throw credentialEnded();
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

/** Whether a sign-in under way has not ended, for the statement that its step is about. */
export const isUnderWay = ({ secretHash }: PendingSignIn): SQL => sql`exists (
  select 1 from ${pendingSignIns} own where own.secret_hash = ${secretHash}
)`;

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
