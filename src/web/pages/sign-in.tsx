import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { findByPassword } from "../../entrance/find-by-password.ts";
import { isRegistrationOn } from "../../domain/people/accounts/register.ts";
import { isMailOn } from "../../domain/people/mail/queue-mail.ts";
import { endSession } from "../../domain/people/sessions/end-sessions.ts";
import { deleteCookie } from "../cookies.ts";
import type { WebEnv } from "../env.ts";
import { continueSignIn } from "./continue-sign-in.ts";
import { readDevice } from "./device.ts";
import { readForm } from "./form.ts";
import { Field, Form, Notice } from "./layout.tsx";
import { openPage, type Page } from "./open-page.ts";
import { orRefuse, type Refusal } from "./or-refuse.ts";
import { readRedirectTo } from "./redirect-to.ts";
import { renderPage } from "./render-page.tsx";
import { redirectAfterWrite } from "./redirect-after-write.ts";

/** Signing in with a password, and signing out. */
export const signIn = new Hono<WebEnv>({ router: new TrieRouter() });

signIn.get("/user/login", async (c) => {
  const page = await openPage(c);
  const redirectTo = readRedirectTo(c.req.query("redirect_to"));
  if (page.ctx.actor.user) return c.redirect(redirectTo ?? "/", 303);
  return renderSignIn(c, page, { redirectTo });
});

signIn.post("/user/login", async (c) => {
  const form = await readForm(c);
  const page = await openPage(c);
  const name = form.text("user_name");
  const redirectTo = readRedirectTo(form.text("redirect_to"));
  const device = readDevice(c);
  return orRefuse(
    c,
    async () => {
      const claim = { name, password: form.text("password") };
      const user = await findByPassword(c.var.base, claim, device.network);
      return continueSignIn(c, page.ctx, user, { device, redirectTo, by: "password" });
    },
    (refusal) => renderSignIn(c, page, { name, redirectTo, refusal }),
  );
});

signIn.post("/user/logout", async (c) => {
  await readForm(c);
  const { ctx } = await openPage(c);
  const { session } = ctx.actor;
  if (session) await endSession(ctx, session.userId, session.id);
  deleteCookie(c, "session");
  deleteCookie(c, "pending");
  return redirectAfterWrite(c, "/user/login");
});

interface SignInState {
  name?: string;
  redirectTo: string | undefined;
  refusal?: Refusal;
}

function renderSignIn(
  c: Context<WebEnv>,
  page: Page,
  { name = "", redirectTo, refusal }: SignInState,
) {
  return renderPage(
    c,
    page,
    { title: "Sign in", status: refusal?.status ?? 200 },
    <section class="card narrow">
      <h1>Sign in</h1>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      <Form action="/user/login" formToken={page.formToken}>
        <input type="hidden" name="redirect_to" value={redirectTo ?? ""} />
        <Field
          label="User name or e-mail address"
          name="user_name"
          value={name}
          autocomplete="username"
          isFirst={name === ""}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          isFirst={name !== ""}
        />
        <button type="submit" class="primary wide">
          Sign in
        </button>
      </Form>
      <ul class="links">
        {isMailOn(page.ctx.config) ? (
          <li>
            <a href="/user/forgot_password">Forgotten password</a>
          </li>
        ) : undefined}
        {isRegistrationOn(page.ctx.config) ? (
          <li>
            <a href="/user/sign_up">Register</a>
          </li>
        ) : (
          <li class="soft">Administrators of the service create accounts.</li>
        )}
      </ul>
    </section>,
  );
}
