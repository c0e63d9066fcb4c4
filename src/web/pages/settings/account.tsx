import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  EMAIL_NOTIFICATIONS,
  type EmailAddress,
  type EmailNotifications,
} from "../../../db/schema/index.ts";
import {
  deleteOwnAccount,
  type DeletionObstacles,
  findDeletionObstacles,
} from "../../../domain/operations/deletions/delete-user.ts";
import { editUser } from "../../../domain/people/accounts/edit-user.ts";
import { checkEmail } from "../../../domain/people/accounts/email-address.ts";
import { addEmails, listEmails, removeEmails } from "../../../domain/people/accounts/emails.ts";
import { isMailOn } from "../../../domain/people/mail/queue-mail.ts";
import { startSession } from "../../../domain/people/sessions/start-session.ts";
import { SESSION_LIFE_MS } from "../../../auth/session.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { deleteCookie, writeCookie } from "../../cookies.ts";
import type { WebEnv } from "../../env.ts";
import { readDevice } from "../device.ts";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { findPasswordFault, NewPasswordFields } from "../new-password.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { SettingsForms } from "../owner-settings/settings-part.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import {
  CODE,
  confirmIdentity,
  confirmPassword,
  CURRENT_PASSWORD,
  passwordFieldOf,
} from "./confirm-password.ts";
import { PasswordField } from "./second-factors.tsx";
import { outcomeOf, renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/account";

/** The reader's password and addresses. */
export const account = new Hono<WebEnv>({ router: new TrieRouter() });

account.get(PATH, async (c) => renderAccount(c, await openOwnPage(c)));

/** Does what a form asks for. @returns The path to which it leads, if not the page itself. */
type Action = (page: OwnPage, form: SentForm, c: Context<WebEnv>) => Promise<string | void>;

/** The actions by the last part of the address of their forms. */
const ACTIONS: Readonly<Record<string, Action>> = {
  password: async (page, form, c) => {
    const { ctx, user } = page;
    const fault = findPasswordFault(form, ctx.config);
    if (fault !== undefined) throw invalid(fault);
    await confirmPassword(c, page, form);
    // All sessions end, this one too: a copy of its cookie must not outlive the old password.
    const changed = await editUser(ctx, user, { password: form.text("password") });
    const { secret } = await startSession(ctx, changed, readDevice(c), "password");
    writeCookie(c, "session", secret, SESSION_LIFE_MS);
  },
  notifications: async ({ ctx, user }, form) => {
    const requested = form.text("email_notifications");
    const emailNotifications = EMAIL_NOTIFICATIONS.find((each) => each === requested);
    if (!emailNotifications) throw invalid("Choose which notifications you want by mail.");
    await editUser(ctx, user, { emailNotifications });
  },
  "emails/add": async (page, form, c) => {
    const { ctx, user } = page;
    const email = form.text("email").trim();
    checkEmail(email);
    // SECURITY: a confirmed address replaces a forgotten password.
    await confirmPassword(c, page, form);
    await c.var.base.rateLimits.count("ADDRESS_ADDITIONS", `account ${user.id}`);
    await addEmails(ctx, user, [email]);
  },
  "emails/remove": ({ ctx, user }, form) => removeEmails(ctx, user, [form.text("email")]),
  "emails/primary": async (page, form, c) => {
    const { ctx, user } = page;
    // SECURITY: what replaces a forgotten password goes to this address.
    await confirmPassword(c, page, form);
    const emails = await listEmails(ctx, user);
    const chosen = emails.find(({ email }) => email === form.text("email"));
    if (!chosen) throw notFound();
    if (!chosen.isActivated) throw invalid("Confirm the address first.");
    await editUser(ctx, user, { email: chosen.email });
  },
  delete: async (page, form, c) => {
    await confirmIdentity(c, page, form);
    await deleteOwnAccount(page.ctx, page.user);
    deleteCookie(c, "session");
    return "/";
  },
};

for (const [action, work] of Object.entries(ACTIONS)) {
  account.post(`${PATH}/${action}`, async (c) => {
    const form = await readForm(c);
    const page = await openOwnPage(c);
    return orRefuse(
      c,
      async () => redirectAfterWrite(c, (await work(page, form, c)) ?? PATH),
      (refusal) => renderAccount(c, page, new SettingsForms({ action, form, refusal })),
      fieldOf,
    );
  });
}

/** The field that a refusal is about which names none. */
function fieldOf(message: string): string | undefined {
  if (message.startsWith("The password")) return "password";
  if (message.includes("passwords differ")) return "retype";
  return message.startsWith("e-mail") ? "email" : passwordFieldOf(message);
}

/** The fields that say themselves why their form was refused. */
const FIELDS = [CURRENT_PASSWORD, CODE, "password", "retype", "email"];

async function renderAccount(c: Context<WebEnv>, page: OwnPage, forms = new SettingsForms()) {
  const [emails, obstacles] = await Promise.all([
    listEmails(page.ctx, page.user),
    findDeletionObstacles(page.ctx, page.user),
  ]);
  const added = forms.of("emails/add");
  return renderSettings(
    c,
    page,
    { part: "account", ...outcomeOf(forms, FIELDS) },
    <>
      <section class="card" aria-labelledby="own-password">
        <h2 id="own-password">Password</h2>
        <p>A new password ends all other sessions. Access tokens and keys stay.</p>
        <Form action={`${PATH}/password`} formToken={page.formToken}>
          <PasswordField id="password-now" state={forms.of("password")} />
          <NewPasswordFields config={page.ctx.config} state={forms.of("password")} />
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
            <Address email={email} forms={forms} formToken={page.formToken} />
          ))}
        </ul>
        <Form action={`${PATH}/emails/add`} formToken={page.formToken}>
          <Field label="Another address" {...added.of("email")} type="email" autocomplete="email" />
          <PasswordField id="password-for-address" state={added} />
          <button type="submit">Add address</button>
        </Form>
      </section>
      <section class="card" aria-labelledby="data">
        <h2 id="data">Your data</h2>
        <p>
          A zip file of JSON with all that this service has of you but secrets: account, addresses,
          keys, tokens, memberships, stars, what you wrote, and the log. The code and the issues of
          your repositories are in <a href="/user/settings/repos">their own exports</a>.
        </p>
        <a class="button" href="/user/settings/export" download="">
          Export your data
        </a>
      </section>
      <Deletion page={page} state={forms.of("delete")} obstacles={obstacles} />
    </>,
  );
}

const OBSTACLES: readonly (readonly [keyof DeletionObstacles, string, (name: string) => string])[] =
  [
    [
      "ownsRepositories",
      "your repositories: delete or transfer them",
      () => "/user/settings/repos",
    ],
    ["isMember", "your organizations: leave them", () => "/user/settings/organization"],
    ["isPublishing", "your packages: delete them", (name) => `/${name}/-/packages`],
  ];

/** What goes with the account and what keeps it, and the form that deletes it. */
function Deletion({
  page,
  state,
  obstacles,
}: {
  page: OwnPage;
  state: FormState;
  obstacles: DeletionObstacles;
}) {
  const { user, formToken } = page;
  const inTheWay = OBSTACLES.filter(([obstacle]) => obstacles[obstacle]);
  const isKept = inTheWay.length > 0 || obstacles.isLastAdministrator;
  return (
    <section class="card form" aria-labelledby="deletion">
      <h2 id="deletion">Delete your account</h2>
      <p>
        With it go its addresses, keys, tokens, sessions, applications, webhooks, stars, watches,
        followers, reactions and notifications. Issues, comments, reviews and commits stay, without
        your name where it was this service that wrote it there. Nothing comes back, and somebody
        else may take the name.
      </p>
      {isKept ? (
        <>
          <p>In the way are:</p>
          <ul>
            {inTheWay.map(([, words, pathOf]) => (
              <li>
                <a href={pathOf(user.name)}>{words}</a>
              </li>
            ))}
            {obstacles.isLastAdministrator ? (
              <li>your role: you are the last administrator</li>
            ) : undefined}
          </ul>
        </>
      ) : (
        <details open={state.refusal !== undefined}>
          <summary>Delete the account</summary>
          <Form action={`${PATH}/delete`} formToken={formToken}>
            <PasswordField
              id="password-for-deletion"
              state={state}
              isOptional={user.hasTotp || user.hasWebauthn}
            />
            {user.hasTotp || user.hasWebauthn ? (
              <Field
                label="Or a code"
                name={CODE}
                fault={state.of(CODE).fault}
                autocomplete="one-time-code"
                hint="Of your authenticator app, or a recovery code."
                isOptional
              />
            ) : undefined}
            <button type="submit" class="danger">
              {`Delete ${user.name} for ever`}
            </button>
          </Form>
        </details>
      )}
    </section>
  );
}

const WANTED: Readonly<Record<EmailNotifications, string>> = {
  enabled: "all notifications",
  onmention: "only where you are mentioned or assigned",
  disabled: "none",
  andyourown: "all notifications, and what you do yourself",
};

/** The form that makes an address the primary one. */
function primaryOf(forms: SettingsForms, { email }: EmailAddress): FormState {
  const sent = forms.of("emails/primary");
  return sent.of("email").value === email ? sent : FormState.fresh();
}

interface AddressProps {
  email: EmailAddress;
  forms: SettingsForms;
  formToken: string;
}

const Address = ({ email, forms, formToken }: AddressProps) => (
  <li>
    <div class="grow">
      <div>{email.email}</div>
      <div class="soft">
        {email.isPrimary ? "Primary, " : undefined}
        {email.isActivated ? "confirmed" : "not confirmed: follow the link in the mail to it"}
      </div>
    </div>
    {email.isPrimary || !email.isActivated ? undefined : (
      <details class="menu end" open={primaryOf(forms, email).refusal !== undefined}>
        <summary class="button small">
          Make primary<span class="hidden"> {email.email}</span>
        </summary>
        <div class="menu-body">
          <Form action={`${PATH}/emails/primary`} formToken={formToken}>
            <input type="hidden" name="email" value={email.email} />
            <p>Mail goes to it, and commits in the browser name it.</p>
            <PasswordField id={`password-for-${email.id}`} state={primaryOf(forms, email)} />
            <button type="submit">Make it the primary address</button>
          </Form>
        </div>
      </details>
    )}
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
