import { and, eq, lt } from "drizzle-orm";

import { ANONYMOUS } from "../../../auth/actor.ts";
import type { BaseCtx } from "../../../context.ts";
import { totpSecrets, type User } from "../../../db/schema/index.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { openTotpSecret } from "./open-totp-secret.ts";
import { spendRecoveryCode } from "./recovery-codes.ts";
import { findTotpStep } from "./totp.ts";

/** The parts of the context that checking a code needs. */
type CodeContext = Pick<BaseCtx, "db" | "config" | "now" | "client" | "signInFailures">;

/** A code that somebody sends as the second factor of a user whose password was right. */
export interface CodeClaim {
  user: User;
  code: string;
  /** The network that the request came from, where it is known. */
  network: string | undefined;
}

/**
 * Whether a code is the current one of a user's authenticator app. Each code counts once.
 *
 * @throws Failure `too_many` after too many wrong codes.
 */
export const verifyTotp = (ctx: CodeContext, claim: CodeClaim): Promise<boolean> =>
  countFailures(ctx, claim, () => useTotp(ctx, claim));

/** Which kind of code a code is by its form. */
export const kindOfCode = (code: string): "second_factor" | "recovery_code" =>
  isTotpCode(code) ? "second_factor" : "recovery_code";

/**
 * Whether a code is the current one of a user's authenticator app, or one of their recovery codes.
 * Each code counts once.
 *
 * @throws Failure `too_many` after too many wrong codes.
 */
export const verifyAnyCode = (ctx: CodeContext, claim: CodeClaim): Promise<boolean> =>
  countFailures(ctx, claim, async () =>
    isTotpCode(claim.code) ? useTotp(ctx, claim) : spendRecoveryCode(ctx, claim.user, claim.code),
  );

/** Wrong codes are limited as wrong passwords are, by account and by address. */
async function countFailures(
  ctx: CodeContext,
  { user, code, network }: CodeClaim,
  use: () => Promise<boolean>,
): Promise<boolean> {
  // No account has such a name, so that codes and passwords have counters of their own.
  const { signInFailures } = ctx;
  const attempt = { name: `code of account ${user.id}`, network };
  await signInFailures.refuseBlocked(attempt);
  const isRight = await use();
  if (!isRight) {
    const by = kindOfCode(code);
    const failed = { kind: "sign_in.failed", ownerId: user.id, details: { by } } as const;
    await recordAudit({ ...ctx, actor: ANONYMOUS }, failed);
    await signInFailures.count(attempt);
  }
  return isRight;
}

const isTotpCode = (code: string): boolean => /^\d{6}$/.test(withoutSpaces(code));

/** Apps show a code in two groups. */
const withoutSpaces = (code: string): string => code.replaceAll(/\s/g, "");

async function useTotp({ db, config, now }: CodeContext, { user, code }: CodeClaim) {
  if (!isTotpCode(code)) return false;
  const isEnabled = and(eq(totpSecrets.userId, user.id), eq(totpSecrets.isEnabled, true));
  const [row] = await db.select().from(totpSecrets).where(isEnabled);
  if (!row) return false;
  const step = await findTotpStep(await openTotpSecret(config, row), withoutSpaces(code), now);
  if (step === undefined) return false;
  // SECURITY: the update decides, so that of two requests at once with the same code one is
  // refused.
  const used = await db
    .update(totpSecrets)
    .set({ lastStep: step })
    .where(and(isEnabled, lt(totpSecrets.lastStep, step)))
    .returning();
  return used.length > 0;
}
