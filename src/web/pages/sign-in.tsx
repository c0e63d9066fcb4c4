import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { findByPassword } from "../../entrance/find-by-password.ts";
import { endSession } from "../../domain/sessions/end-sessions.ts";
import { Failure } from "../../lib/failure.ts";
import { FAILURE_STATUS, failureHeaders } from "../../entrance/failure-status.ts";
import { deleteCookie } from "../cookies.ts";
import type { WebEnv } from "../env.ts";
import { continueSignIn } from "./continue-sign-in.ts";
import { readDevice } from "./device.ts";
import { readForm } from "./form.ts";
import { Field, Form, Notice } from "./layout.tsx";
import { openPage, type Page } from "./open-page.ts";
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
  try {
    const claim = { name, password: form.text("password") };
    const user = await findByPassword(c.var.base, claim, device.network);
    return await continueSignIn(c, page.ctx, user, { device, redirectTo, needsFactor: true });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return renderSignIn(c, page, { name, redirectTo, refusal: error });
  }
});

signIn.post("/user/logout", async (c) => {
  await readForm(c);
  const { ctx } = await openPage(c);
  const { session } = ctx.actor;
  if (session) await endSession(ctx.db, session.userId, session.id);
  deleteCookie(c, "session");
  deleteCookie(c, "pending");
  return redirectAfterWrite(c, "/user/login");
});

interface SignInState {
  name?: string;
  redirectTo: string | undefined;
  refusal?: Failure;
}

function renderSignIn(
  c: Context<WebEnv>,
  page: Page,
  { name = "", redirectTo, refusal }: SignInState,
) {
  if (refusal) {
    for (const [header, value] of Object.entries(failureHeaders(refusal))) c.header(header, value);
  }
  return renderPage(
    c,
    page,
    { title: "Sign in", status: refusal ? FAILURE_STATUS[refusal.kind] : 200 },
    <section class="card narrow">
      <h1>Sign in</h1>
      {refusal ? <Notice kind="error">{refusal.message}</Notice> : undefined}
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
    </section>,
  );
}
