import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { PendingSignIn, User } from "../../db/schema/index.ts";
import { kindOfCode, verifyAnyCode } from "../../domain/people/second-factors/verify-code.ts";
import {
  startWebauthnSignIn,
  verifyWebauthnSignIn,
} from "../../domain/people/second-factors/webauthn.ts";
import {
  endPendingSignIn,
  findPendingSignIn,
} from "../../domain/people/sessions/pending-sign-in.ts";
import { unauthenticated } from "../../lib/failure.ts";
import { readCookie } from "../cookies.ts";
import type { WebEnv } from "../env.ts";
import { continueSignIn } from "./continue-sign-in.ts";
import { readDevice } from "./device.ts";
import { readForm } from "./form.ts";
import { Field, Form, Notice } from "./layout.tsx";
import { openPage, type Page } from "./open-page.ts";
import { orRefuse, type Refusal } from "./or-refuse.ts";
import { readRedirectTo } from "./redirect-to.ts";
import { SecurityKeyForm } from "./security-key-form.tsx";
import { renderPage } from "./render-page.tsx";

const PATH = "/user/two_factor";

/** The second step of a sign-in to an account with a second factor. */
export const twoFactor = new Hono<WebEnv>({ router: new TrieRouter() });

twoFactor.get(PATH, async (c) => {
  const found = await findDue(c);
  if (!found) return c.redirect("/user/login", 303);
  const redirectTo = readRedirectTo(c.req.query("redirect_to"));
  return renderTwoFactor(c, await openPage(c), { ...found, redirectTo });
});

twoFactor.post(PATH, async (c) => {
  const form = await readForm(c);
  const found = await findDue(c);
  if (!found) return c.redirect("/user/login", 303);
  const page = await openPage(c);
  const redirectTo = readRedirectTo(form.text("redirect_to"));
  const { pending, user } = found;
  return orRefuse(
    c,
    async () => {
      const device = readDevice(c);
      const claim = { user, code: form.text("passcode"), network: device.network };
      const isRight = await verifyAnyCode(c.var.base, claim);
      if (!isRight || !(await endPendingSignIn(page.ctx, pending))) {
        throw unauthenticated("The code is not right, or was used already.");
      }
      return continueSignIn(c, page.ctx, user, { device, redirectTo, by: kindOfCode(claim.code) });
    },
    (refusal) => renderTwoFactor(c, page, { ...found, redirectTo, refusal }),
  );
});

twoFactor.post(`${PATH}/webauthn`, async (c) => {
  const form = await readForm(c);
  const found = await findDue(c);
  if (!found) return c.redirect("/user/login", 303);
  const page = await openPage(c);
  const redirectTo = readRedirectTo(form.text("redirect_to"));
  const { pending, user } = found;
  return orRefuse(
    c,
    async () => {
      await verifyWebauthnSignIn(page.ctx, user, pending, form.text("response"));
      // SECURITY: the challenge ends with the sign-in under way, so that an answer counts once.
      if (!(await endPendingSignIn(page.ctx, pending))) throw unauthenticated("Sign in again.");
      const device = readDevice(c);
      return continueSignIn(c, page.ctx, user, { device, redirectTo, by: "security_key" });
    },
    (refusal) => renderTwoFactor(c, page, { ...found, redirectTo, refusal }),
  );
});

/** A sign-in under way that needs a second factor. */
interface DueFactor {
  pending: PendingSignIn;
  user: User;
}

async function findDue(c: Context<WebEnv>): Promise<DueFactor | undefined> {
  const secret = readCookie(c, "pending");
  const found = secret === undefined ? undefined : await findPendingSignIn(c.var.base, secret);
  return found?.pending.needsFactor ? found : undefined;
}

interface TwoFactorState extends DueFactor {
  redirectTo: string | undefined;
  refusal?: Refusal;
}

async function renderTwoFactor(
  c: Context<WebEnv>,
  page: Page,
  { pending, user, redirectTo, refusal }: TwoFactorState,
) {
  const options = user.hasWebauthn ? await startWebauthnSignIn(page.ctx, user, pending) : undefined;
  const scripts = options ? (["security-key.ts"] as const) : [];
  return renderPage(
    c,
    page,
    { title: "Second factor", status: refusal?.status ?? 200, scripts },
    <section class="card narrow">
      <h1>Second factor</h1>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      {options ? (
        <SecurityKeyForm
          path={`${PATH}/webauthn`}
          formToken={page.formToken}
          action="get"
          options={options}
          fields={{ redirect_to: redirectTo ?? "" }}
          label="Use a security key"
        />
      ) : undefined}
      <Form action={PATH} formToken={page.formToken}>
        <input type="hidden" name="redirect_to" value={redirectTo ?? ""} />
        <Field
          label={user.hasTotp ? "Code" : "Recovery code"}
          name="passcode"
          autocomplete="one-time-code"
          hint={
            user.hasTotp
              ? "The six digits in your authenticator app, or one of your recovery codes."
              : undefined
          }
          isFirst={!options}
        />
        <button type="submit" class={options ? "wide" : "primary wide"}>
          Continue
        </button>
      </Form>
    </section>,
  );
}
