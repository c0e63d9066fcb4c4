import type { Context } from "hono";

import { verifyAnyCode } from "../../../domain/people/second-factors/verify-code.ts";
import { comparePassword } from "../../../entrance/compare-password.ts";
import { invalid } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import type { Form } from "../form.ts";
import type { OwnPage } from "../open-page.ts";

/** The field for the reader's password in forms that change how they sign in. */
export const CURRENT_PASSWORD = "current_password";

const WRONG_PASSWORD = "Your password is not right.";
const WRONG_CODE = "The code is not right.";

/**
 * Requires the reader's password.
 *
 * SECURITY: a browser that was left unlocked must not give the account away for good.
 *
 * @throws Failure `invalid` for a wrong one, `too_many` after too many.
 */
export async function confirmPassword(
  c: Context<WebEnv>,
  { user }: OwnPage,
  form: Form,
): Promise<void> {
  const { base } = c.var;
  const claim = { name: user.name, password: form.text(CURRENT_PASSWORD) };
  const match = await comparePassword(base, claim, user, base.network);
  if (match === "wrong") throw invalid(WRONG_PASSWORD);
}

/** The field that a refusal is about which says that the sender is not the reader. */
export function passwordFieldOf(message: string): string | undefined {
  if (message === WRONG_PASSWORD) return CURRENT_PASSWORD;
  return message === WRONG_CODE ? CODE : undefined;
}

/** The field for a code of the reader's app, or one of their recovery codes. */
export const CODE = "passcode";

/**
 * Requires the reader's password, or a code in its place.
 *
 * @throws Failure as `confirmPassword`, also for a wrong code.
 */
export async function confirmIdentity(
  c: Context<WebEnv>,
  page: OwnPage,
  form: Form,
): Promise<void> {
  const { base } = c.var;
  const { user } = page;
  const code = form.text(CODE).trim();
  const hasSecondFactor = user.hasTotp || user.hasWebauthn;
  if (code === "" || !hasSecondFactor) return confirmPassword(c, page, form);
  const isRight = await verifyAnyCode(base, { user, code, network: base.network });
  if (!isRight) throw invalid(WRONG_CODE);
}
