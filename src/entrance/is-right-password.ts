import { eq, sql, type SQL } from "drizzle-orm";

import { digestClaim, type PasswordClaim, verifyPassword, wasRight } from "../auth/password.ts";
import type { BaseCtx } from "../context.ts";
import { anyOf } from "../db/db.ts";
import { emailAddresses, users, type User } from "../db/schema/index.ts";
import { forbidden } from "../lib/failure.ts";

/** Matches the account that a name signs in to: a login name or any confirmed email address. */
export function matchesLogin(name: string): SQL {
  const lower = name.toLowerCase();
  return anyOf(
    eq(users.lowerName, lower),
    sql`${users.id} = (
      select user_id
      from ${emailAddresses}
      where ${emailAddresses.lowerEmail} = ${lower} and ${emailAddresses.isActivated}
    )`,
  );
}

/**
 * Whether a password is right.
 *
 * SECURITY: the password is hashed, and a wrong one counted, whether or not the account exists: neither timing, nor
 * limits, nor the message that follows reveal which accounts exist.
 *
 * @throws Failure `too_many` after too many wrong passwords, and while too many are being checked.
 */
export async function isRightPassword(
  { signInFailures: failures, defer }: BaseCtx,
  claim: PasswordClaim,
  network: string | undefined,
): Promise<boolean> {
  const digest = await digestClaim(claim);
  if (wasRight(digest)) return true;
  const attempt = { name: claim.name, network };
  await failures.refuseBlocked(attempt);
  const verifying = verifyPassword(claim, digest);
  // SECURITY: a caller who hangs up would otherwise leave a turn in the queue that nobody takes.
  defer(verifying.catch(() => undefined));
  const isRight = await verifying;
  if (!isRight) await failures.count(attempt);
  return isRight;
}

/** @throws Failure `forbidden` for an account that was disabled. */
export function refuseProhibited(user: User): void {
  if (user.isActive && !user.isLoginProhibited) return;
  throw forbidden(
    "This account is prohibited from signing in, please contact your site administrator.",
  );
}
