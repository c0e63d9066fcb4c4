import type { Context } from "hono";

import { SESSION_LIFE_MS } from "../../auth/session.ts";
import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import {
  PENDING_LIFE_MS,
  startPendingSignIn,
} from "../../domain/people/sessions/pending-sign-in.ts";
import {
  type Device,
  type SignInMethod,
  startSession,
} from "../../domain/people/sessions/start-session.ts";
import { deleteCookie, writeCookie } from "../cookies.ts";
import type { WebEnv } from "../env.ts";
import { redirectAfterWrite } from "./redirect-after-write.ts";
import { withRedirectTo } from "./redirect-to.ts";

/** A step of a sign-in that succeeded. */
interface SignInStep {
  device: Device;
  redirectTo: string | undefined;
  /**
   * The proof that this step asked for. After the password, a second factor is due if the account
   * has one.
   */
  by: SignInMethod;
}

/**
 * Leads a sign-in to its next step: the second factor, a new password where one is due, then a
 * session.
 */
export async function continueSignIn(
  c: Context<WebEnv>,
  ctx: Ctx,
  user: User,
  { device, redirectTo, by }: SignInStep,
): Promise<Response> {
  const isFactorDue = by === "password" && (user.hasTotp || user.hasWebauthn);
  if (isFactorDue || user.mustChangePassword) {
    const { secret } = await startPendingSignIn(ctx, user, isFactorDue);
    writeCookie(c, "pending", secret, PENDING_LIFE_MS);
    const next = isFactorDue ? "/user/two_factor" : "/user/change_password";
    return redirectAfterWrite(c, withRedirectTo(next, redirectTo));
  }
  const { secret } = await startSession(ctx, user, device, by);
  // SECURITY: a new secret for each sign-in, so that nobody who knew the browser's cookies before
  // shares the session.
  writeCookie(c, "session", secret, SESSION_LIFE_MS);
  deleteCookie(c, "pending");
  deleteCookie(c, "form");
  return redirectAfterWrite(c, redirectTo ?? "/");
}
