import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { isEmail } from "../../domain/people/accounts/email-address.ts";
import { mailPasswordReset, resetPassword } from "../../domain/people/accounts/reset-password.ts";
import { findMailedCode } from "../../domain/people/mail/mailed-codes.ts";
import { isMailOn } from "../../domain/people/mail/queue-mail.ts";
import { sendDueMails } from "../../domain/operations/mail-delivery/send-due-mails.ts";
import { invalid } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { readForm } from "./form.ts";
import { Field, Form, Notice } from "./layout.tsx";
import { renderMessage } from "./message.tsx";
import { findPasswordFault, NewPasswordFields } from "./new-password.tsx";
import { openPage, type Page } from "./open-page.ts";
import { orRefuse, type Refusal } from "./or-refuse.ts";
import { renderPage } from "./render-page.tsx";

const FORGOTTEN = "/user/forgot_password";
const RECOVERY = "/user/recover_account";

/** A new password for somebody who forgot theirs, by a link in a mail. */
export const forgottenPassword = new Hono<WebEnv>({ router: new TrieRouter() });

forgottenPassword.get(FORGOTTEN, async (c) => renderForgotten(c, await openPage(c)));

forgottenPassword.post(FORGOTTEN, async (c) => {
  const form = await readForm(c);
  const page = await openPage(c);
  const email = form.text("email");
  return orRefuse(
    c,
    async () => {
      const { rateLimits, network } = c.var.base;
      if (!isEmail(email)) throw invalid("This is not an e-mail address.");
      await rateLimits.count("PASSWORD_RESETS", network && `from ${network}`);
      await rateLimits.count("PASSWORD_RESETS", `for ${email.toLowerCase()}`);
      // SECURITY: after the answer, whose time would reveal whether an account has the address.
      const { ctx } = page;
      if (isMailOn(ctx.config)) {
        ctx.defer(mailPasswordReset(ctx, email).then(() => sendDueMails(ctx)));
      }
      return renderMessage(c, page, {
        title: "Look into your mail",
        text: `If an account has the address ${email}, a link to choose a new password is on its way there. It is valid for an hour.`,
      });
    },
    (refusal) => renderForgotten(c, page, email, refusal),
  );
});

forgottenPassword.get(RECOVERY, async (c) => {
  const page = await openPage(c);
  const code = c.req.query("code") ?? "";
  if (!(await findMailedCode(page.ctx, code, "reset_password"))) return renderEnded(c, page);
  return renderRecovery(c, page, code);
});

forgottenPassword.post(RECOVERY, async (c) => {
  const form = await readForm(c);
  const page = await openPage(c);
  const code = form.text("code");
  const fault = findPasswordFault(form, page.ctx.config);
  if (fault !== undefined) return renderRecovery(c, page, code, fault);
  const isReset = await resetPassword(page.ctx, code, form.text("password"));
  if (!isReset) return renderEnded(c, page);
  return renderMessage(c, page, {
    title: "Your password is changed",
    text: "All sessions have ended. Sign in with the new password.",
    link: { path: "/user/login", label: "Sign in" },
  });
});

/**
 * SECURITY: the same for every link that is not valid, so that none reveals whether an account
 * exists.
 */
const renderEnded = (c: Context<WebEnv>, page: Page) =>
  renderMessage(c, page, {
    title: "This link is not valid",
    text: "It was used already, is older than an hour, or is not complete.",
    link: { path: FORGOTTEN, label: "Ask for a new one" },
    status: 404,
  });

const renderForgotten = (c: Context<WebEnv>, page: Page, email = "", refusal?: Refusal) =>
  isMailOn(page.ctx.config)
    ? renderPage(
        c,
        page,
        { title: "Forgotten password", status: refusal?.status ?? 200 },
        <section class="card narrow">
          <h1>Forgotten password</h1>
          {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
          <Form action={FORGOTTEN} formToken={page.formToken}>
            <Field
              label="E-mail address"
              name="email"
              type="email"
              value={email}
              autocomplete="email"
              hint="A confirmed address of your account. You get a link there."
              isFirst
            />
            <button type="submit" class="primary wide">
              Send the link
            </button>
          </Form>
        </section>,
      )
    : renderMessage(c, page, {
        title: "Forgotten password",
        text: "This service sends no mail. Ask its administrator for a new password.",
      });

const renderRecovery = (c: Context<WebEnv>, page: Page, code: string, fault?: string) =>
  renderPage(
    c,
    page,
    { title: "Choose a new password", status: fault === undefined ? 200 : 422 },
    <section class="card narrow">
      <h1>Choose a new password</h1>
      {fault === undefined ? undefined : <Notice kind="error">{fault}</Notice>}
      <Form action={RECOVERY} formToken={page.formToken}>
        <input type="hidden" name="code" value={code} />
        <NewPasswordFields config={page.ctx.config} />
        <button type="submit" class="primary wide">
          Change password
        </button>
      </Form>
    </section>,
  );
