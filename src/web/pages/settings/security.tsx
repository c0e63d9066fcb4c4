import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  countRecoveryCodes,
  replaceRecoveryCodes,
} from "../../../domain/people/second-factors/recovery-codes.ts";
import {
  disableTotp,
  enableTotp,
  findWaitingTotp,
  startTotp,
} from "../../../domain/people/second-factors/totp-enrolment.ts";
import { totpUri } from "../../../domain/people/second-factors/totp.ts";
import {
  addWebauthnKey,
  listWebauthnKeys,
  removeWebauthnKey,
  startWebauthnKey,
} from "../../../domain/people/second-factors/webauthn.ts";
import { invalidField } from "../../../lib/failure.ts";
import { SecurityKeyForm } from "../security-key-form.tsx";
import { KEY_NAME_CHARS_MAX, SecurityKeys } from "./security-keys.tsx";
import { endOtherSessions, endSession } from "../../../domain/people/sessions/end-sessions.ts";
import { listSessions } from "../../../domain/people/sessions/list-sessions.ts";
import type { WebEnv } from "../../env.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { SettingsForms } from "../owner-settings/settings-part.ts";
import { QrCode } from "../qr-code.tsx";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { confirmPassword, CURRENT_PASSWORD, passwordFieldOf } from "./confirm-password.ts";
import { AuthenticatorApp, NewRecoveryCodes, RecoveryCodes } from "./second-factors.tsx";
import { SECURITY_PATH as PATH } from "./security-path.ts";
import { Sessions } from "./sessions.tsx";
import { outcomeOf, renderSettings } from "./settings-page.tsx";

/** Sessions and second factors of the reader. */
export const security = new Hono<WebEnv>({ router: new TrieRouter() });

security.get(PATH, async (c) => renderSecurity(c, await openOwnPage(c)));

security.post(`${PATH}/sessions/end`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  await endSession(ctx, user.id, readId(form.text("id")));
  return redirectAfterWrite(c, PATH);
});

security.post(`${PATH}/sessions/end_others`, async (c) => {
  await readForm(c);
  const { ctx, session } = await openOwnPage(c);
  await endOtherSessions(ctx, session);
  return redirectAfterWrite(c, PATH);
});

security.post(`${PATH}/two_factor/start`, async (c) =>
  withPassword(c, "two_factor/start", async ({ ctx, user }) => {
    await startTotp(ctx, user);
    return redirectAfterWrite(c, `${PATH}/two_factor/enroll`);
  }),
);

security.get(`${PATH}/two_factor/enroll`, async (c) => renderEnrolment(c, await openOwnPage(c)));

security.post(`${PATH}/two_factor/enroll`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  return orRefuse(
    c,
    async () =>
      renderCodes(
        c,
        page,
        await enableTotp(page.ctx, page.user, page.session, form.text("passcode")),
      ),
    (refusal) => renderEnrolment(c, page, refusal),
  );
});

security.post(`${PATH}/two_factor/disable`, async (c) =>
  withPassword(c, "two_factor/disable", async ({ ctx, user, session }) => {
    await disableTotp(ctx, user, session);
    return redirectAfterWrite(c, PATH);
  }),
);

security.post(`${PATH}/recovery_codes`, async (c) =>
  withPassword(c, "recovery_codes", async (page) => {
    const { codes, statements } = await replaceRecoveryCodes(page.ctx, page.user);
    await page.ctx.db.batch(statements);
    return renderCodes(c, page, codes);
  }),
);

security.post(`${PATH}/webauthn/start`, async (c) =>
  withPassword(c, "webauthn/start", async (page, form) => {
    const name = form.line("name", KEY_NAME_CHARS_MAX);
    if (name === "") throw invalidField("name", "must not be empty");
    const options = await startWebauthnKey(page.ctx, page.user, page.session);
    return renderSettings(
      c,
      page,
      { part: "security", scripts: ["security-key.ts"] },
      <section class="card narrow">
        <h2>Add the key {name}</h2>
        <SecurityKeyForm
          path={`${PATH}/webauthn/add`}
          formToken={page.formToken}
          action="create"
          options={options}
          fields={{ name }}
          label="Ask the key"
        />
      </section>,
    );
  }),
);

security.post(`${PATH}/webauthn/add`, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  return orRefuse(
    c,
    async () => {
      const added = { name: form.text("name"), response: form.text("response") };
      const codes = await addWebauthnKey(page.ctx, page.user, page.session, added);
      return codes ? renderCodes(c, page, codes) : redirectAfterWrite(c, PATH);
    },
    (refusal) =>
      renderSecurity(c, page, new SettingsForms({ action: "webauthn/add", form, refusal })),
  );
});

security.post(`${PATH}/webauthn/remove`, async (c) =>
  withPassword(c, "webauthn/remove", async ({ ctx, user, session }, form) => {
    await removeWebauthnKey(ctx, user, session, readId(form.text("id")));
    return redirectAfterWrite(c, PATH);
  }),
);

/**
 * Does what a form asks for whose sender proves with their password to be the reader.
 *
 * @param action The address of the form, below the page.
 */
async function withPassword(
  c: Context<WebEnv>,
  action: string,
  work: (page: OwnPage, form: SentForm) => Promise<Response>,
): Promise<Response> {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  return orRefuse(
    c,
    async () => {
      await confirmPassword(c, page, form);
      return work(page, form);
    },
    (refusal) => renderSecurity(c, page, new SettingsForms({ action, form, refusal })),
    passwordFieldOf,
  );
}

async function renderSecurity(c: Context<WebEnv>, page: OwnPage, forms = new SettingsForms()) {
  const [sessions, left, keys] = await Promise.all([
    listSessions(page.ctx, page.user),
    countRecoveryCodes(page.ctx, page.user),
    listWebauthnKeys(page.ctx, page.user),
  ]);
  return renderSettings(
    c,
    page,
    { part: "security", ...outcomeOf(forms, [CURRENT_PASSWORD, "name"]) },
    <>
      <AuthenticatorApp page={page} forms={forms} />
      <SecurityKeys page={page} forms={forms} keys={keys} />
      <RecoveryCodes page={page} forms={forms} left={left} />
      <Sessions page={page} sessions={sessions} />
    </>,
  );
}

async function renderEnrolment(c: Context<WebEnv>, page: OwnPage, refusal?: Refusal) {
  const { ctx, user, formToken } = page;
  const secret = await findWaitingTotp(ctx, user);
  if (secret === undefined) return c.redirect(PATH, 303);
  const uri = await totpUri(secret, ctx.config.appName, user.name);
  return renderSettings(
    c,
    page,
    { part: "security", refusal },
    <section class="card">
      <h2>Set up an authenticator app</h2>
      <p>Scan this code with the app, or enter its text there.</p>
      <QrCode text={uri} label="The text below as a QR code" />
      <p class="secret">{secret}</p>
      <Form action={`${PATH}/two_factor/enroll`} formToken={formToken}>
        <Field
          label="Code"
          name="passcode"
          autocomplete="one-time-code"
          inputmode="numeric"
          hint="The six digits that the app shows."
          isFirst
        />
        <button type="submit" class="primary">
          Enable the app
        </button>
      </Form>
    </section>,
  );
}

const renderCodes = (c: Context<WebEnv>, page: OwnPage, codes: readonly string[]) =>
  renderSettings(c, page, { part: "security" }, <NewRecoveryCodes codes={codes} />);
