import { digestClaim, type PasswordClaim, verifyPassword, wasRight } from "../auth/password.ts";
import type { BaseCtx } from "../context.ts";
import type { User } from "../db/schema/index.ts";
import { recordFailedSignIn } from "../domain/people/audit/record-sign-in.ts";
import { forbidden } from "../lib/failure.ts";

/**
 * Whether a password is right, and whether it had been hashed a moment ago and was not hashed
 * again.
 */
export type PasswordMatch = "right" | "remembered" | "wrong";

/**
 * Compares a password with the one of an account, and records a wrong one in the audit log.
 *
 * SECURITY: the password is hashed, and a wrong one counted, whether or not the account exists:
 * neither timing, nor limits, nor the message that follows reveal which accounts exist.
 *
 * @param user The account that the name signs in to, if there is one.
 * @throws Failure `too_many` after too many wrong passwords, and while too many are being checked.
 */
export async function comparePassword(
  base: BaseCtx,
  { name, password }: Pick<PasswordClaim, "name" | "password">,
  user: User | undefined,
  network: string | undefined,
): Promise<PasswordMatch> {
  const { signInFailures: failures, defer } = base;
  const claim = { name, password, hash: user?.passwordHash ?? null };
  const digest = await digestClaim(claim);
  if (wasRight(digest)) return "remembered";
  const attempt = { name, network };
  await failures.refuseBlocked(attempt);
  const verifying = verifyPassword(claim, digest);
  // SECURITY: a caller who hangs up would otherwise leave a turn in the queue that nobody takes.
  defer(verifying.catch(() => undefined));
  if (await verifying) return "right";
  // SECURITY: not awaited, so that it does not take the longer where an account exists.
  defer(recordFailedSignIn(base, user).execute());
  await failures.count(attempt);
  return "wrong";
}

/** Whether an account was disabled, or may not sign in. */
export const isProhibited = ({ isActive, isLoginProhibited }: User): boolean =>
  !isActive || isLoginProhibited;

/** @throws Failure `forbidden` for an account that may not sign in. */
export function refuseProhibited(user: User): void {
  if (!isProhibited(user)) return;
  throw forbidden(
    "This account is prohibited from signing in, please contact your site administrator.",
  );
}
