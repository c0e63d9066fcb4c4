import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { ANONYMOUS } from "../../auth/actor.ts";
import { digestClaim, verifyPassword } from "../../auth/password.ts";
import type { PendingSignIn, User } from "../../db/schema/index.ts";
import { editUserWhile } from "../../domain/people/accounts/edit-user.ts";
import { findPendingSignIn, isUnderWay } from "../../domain/people/sessions/pending-sign-in.ts";
import { readCookie } from "../cookies.ts";
import type { WebEnv } from "../env.ts";
import { continueSignIn } from "./continue-sign-in.ts";
import { readDevice } from "./device.ts";
import { readForm } from "./form.ts";
import { Form, Notice } from "./layout.tsx";
import { findPasswordFault, NewPasswordFields } from "./new-password.tsx";
import { openPage, type Page } from "./open-page.ts";
import { readRedirectTo } from "./redirect-to.ts";
import { renderPage } from "./render-page.tsx";

const PATH = "/user/change_password";

/** The last step of a sign-in where a new password is due. */
export const changePassword = new Hono<WebEnv>({ router: new TrieRouter() });

changePassword.get(PATH, async (c) => {
  if (!(await findDue(c))) return c.redirect("/user/login", 303);
  return renderChange(c, await openPage(c), readRedirectTo(c.req.query("redirect_to")));
});

changePassword.post(PATH, async (c) => {
  const form = await readForm(c);
  const due = await findDue(c);
  if (!due) return c.redirect("/user/login", 303);
  const { user, pending } = due;
  const page = await openPage(c);
  const redirectTo = readRedirectTo(form.text("redirect_to"));
  const password = form.text("password");
  const fault =
    findPasswordFault(form, page.ctx.config) ??
    ((await isSame(user, password)) ? "The new password must differ from the old one." : undefined);
  if (fault !== undefined) return renderChange(c, page, redirectTo, fault);
  const ctx = { ...page.ctx, actor: { ...ANONYMOUS, user } };
  const edit = { password, mustChangePassword: false };
  const changed = await editUserWhile(ctx, user, edit, isUnderWay(pending));
  if (!changed) return c.redirect("/user/login", 303);
  const device = readDevice(c);
  // An account with a second factor only comes here after it.
  const by = user.hasTotp || user.hasWebauthn ? "second_factor" : "password";
  return continueSignIn(c, page.ctx, changed, { device, redirectTo, by });
});

/** A sign-in under way that lacks nothing but a new password. */
async function findDue(
  c: Context<WebEnv>,
): Promise<{ pending: PendingSignIn; user: User } | undefined> {
  const secret = readCookie(c, "pending");
  const found = secret === undefined ? undefined : await findPendingSignIn(c.var.base, secret);
  // SECURITY: a password alone must not change the password of an account with a second factor.
  return found && !found.pending.needsFactor && found.user.mustChangePassword ? found : undefined;
}

async function isSame({ name, passwordHash: hash }: User, password: string): Promise<boolean> {
  const claim = { name, password, hash };
  return verifyPassword(claim, await digestClaim(claim));
}

const renderChange = (
  c: Context<WebEnv>,
  page: Page,
  redirectTo: string | undefined,
  fault?: string,
) =>
  renderPage(
    c,
    page,
    { title: "Change your password", status: fault === undefined ? 200 : 422 },
    <section class="card narrow">
      <h1>Change your password</h1>
      {fault === undefined ? undefined : <Notice kind="error">{fault}</Notice>}
      <p>Your password was set by somebody else. Choose one that only you know.</p>
      <Form action={PATH} formToken={page.formToken}>
        <input type="hidden" name="redirect_to" value={redirectTo ?? ""} />
        <NewPasswordFields config={page.ctx.config} />
        <button type="submit" class="primary wide">
          Change password
        </button>
      </Form>
    </section>,
  );
