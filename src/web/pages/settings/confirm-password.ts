import type { Context } from "hono";

import { isRightPassword } from "../../../entrance/is-right-password.ts";
import { invalid } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import type { Form } from "../form.ts";
import type { OwnPage } from "../open-page.ts";

/** The field for the reader's password in forms that change how they sign in. */
export const CURRENT_PASSWORD = "current_password";

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
  const { name, passwordHash: hash } = user;
  const claim = { name, password: form.text(CURRENT_PASSWORD), hash };
  if (!(await isRightPassword(base, claim, base.network)))
    throw invalid("Your password is not right.");
}
