import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  EMAIL_NOTIFICATIONS,
  type EmailAddress,
  type EmailNotifications,
} from "../../../db/schema/index.ts";
import { editUser } from "../../../domain/people/accounts/edit-user.ts";
import { addEmails, listEmails, removeEmails } from "../../../domain/people/accounts/emails.ts";
import { isMailOn } from "../../../domain/people/mail/queue-mail.ts";
import { startSession } from "../../../domain/people/sessions/start-session.ts";
import { SESSION_LIFE_MS } from "../../../auth/session.ts";
import { invalid } from "../../../lib/failure.ts";
import { writeCookie } from "../../cookies.ts";
import type { WebEnv } from "../../env.ts";
import { readDevice } from "../device.ts";
import { readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { findPasswordFault, NewPasswordFields } from "../new-password.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { confirmPassword } from "./confirm-password.ts";
import { PasswordField } from "./second-factors.tsx";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/account";

/** The reader's password and addresses. */
export const account = new Hono<WebEnv>({ router: new TrieRouter() });

account.get(PATH, async (c) => renderAccount(c, await openOwnPage(c)));

account.post(`${PATH}/password`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  const { ctx, user } = page;
  return orRefuse(
    c,
    async () => {
      const fault = findPasswordFault(form, ctx.config);
      if (fault !== undefined) throw invalid(fault);
      await confirmPassword(c, page, form);
      // All sessions end, this one too: a copy of its cookie must not outlive the old password.
      const changed = await editUser(ctx, user, { password: form.text("password") });
      const { secret } = await startSession(ctx, changed, readDevice(c), "password");
      writeCookie(c, "session", secret, SESSION_LIFE_MS);
      return redirectAfterWrite(c, PATH);
    },
    (refusal) => renderAccount(c, page, refusal),
  );
});

account.post(`${PATH}/notifications`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  return orRefuse(
    c,
    async () => {
      const requested = form.text("email_notifications");
      const emailNotifications = EMAIL_NOTIFICATIONS.find((each) => each === requested);
      if (!emailNotifications) throw invalid("Choose which notifications you want by mail.");
      await editUser(page.ctx, page.user, { emailNotifications });
      return redirectAfterWrite(c, PATH);
    },
    (refusal) => renderAccount(c, page, refusal),
  );
});

account.post(`${PATH}/emails/add`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  return orRefuse(
    c,
    async () => {
      const { ctx, user } = page;
      // SECURITY: a confirmed address replaces a forgotten password.
      await confirmPassword(c, page, form);
      await c.var.base.rateLimits.count("ADDRESS_ADDITIONS", `account ${user.id}`);
      await addEmails(ctx, user, [form.text("email")]);
      return redirectAfterWrite(c, PATH);
    },
    (refusal) => renderAccount(c, page, refusal),
  );
});

account.post(`${PATH}/emails/remove`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  return orRefuse(
    c,
    async () => {
      await removeEmails(page.ctx, page.user, [form.text("email")]);
      return redirectAfterWrite(c, PATH);
    },
    (refusal) => renderAccount(c, page, refusal),
  );
});

async function renderAccount(c: Context<WebEnv>, page: OwnPage, refusal?: Refusal) {
  const emails = await listEmails(page.ctx, page.user);
  return renderSettings(
    c,
    page,
    { part: "account", refusal },
    <>
      <section class="card" aria-labelledby="own-password">
        <h2 id="own-password">Password</h2>
        <p>A new password ends all other sessions. Access tokens and keys stay.</p>
        <Form action={`${PATH}/password`} formToken={page.formToken}>
          <PasswordField id="password-now" />
          <NewPasswordFields config={page.ctx.config} />
          <button type="submit" class="primary">
            Change password
          </button>
        </Form>
      </section>
      <section class="card" aria-labelledby="notifications">
        <h2 id="notifications">Notifications by mail</h2>
        {isMailOn(page.ctx.config) ? undefined : <p>This service sends no mail.</p>}
        <Form action={`${PATH}/notifications`} formToken={page.formToken}>
          <div class="field">
            <label for="email-notifications">You receive by mail</label>
            <select id="email-notifications" name="email_notifications">
              {EMAIL_NOTIFICATIONS.map((each) => (
                <option value={each} selected={each === page.user.emailNotifications}>
                  {WANTED[each]}
                </option>
              ))}
            </select>
          </div>
          <button type="submit">Save</button>
        </Form>
      </section>
      <section class="card" aria-labelledby="addresses">
        <h2 id="addresses">E-mail addresses</h2>
        <ul class="list">
          {emails.map((email) => (
            <Address email={email} formToken={page.formToken} />
          ))}
        </ul>
        <Form action={`${PATH}/emails/add`} formToken={page.formToken}>
          <Field label="Another address" name="email" type="email" autocomplete="email" />
          <PasswordField id="password-for-address" />
          <button type="submit">Add address</button>
        </Form>
      </section>
    </>,
  );
}

const WANTED: Readonly<Record<EmailNotifications, string>> = {
  enabled: "all notifications",
  onmention: "only where you are mentioned or assigned",
  disabled: "none",
  andyourown: "all notifications, and what you do yourself",
};

const Address = ({ email, formToken }: { email: EmailAddress; formToken: string }) => (
  <li>
    <div class="grow">
      <div>{email.email}</div>
      <div class="soft">
        {email.isPrimary ? "Primary, " : undefined}
        {email.isActivated ? "confirmed" : "not confirmed: follow the link in the mail to it"}
      </div>
    </div>
    {email.isPrimary ? undefined : (
      <Form action={`${PATH}/emails/remove`} formToken={formToken}>
        <input type="hidden" name="email" value={email.email} />
        <button type="submit">
          Remove<span class="hidden"> {email.email}</span>
        </button>
      </Form>
    )}
  </li>
);
