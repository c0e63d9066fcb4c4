import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { confirmAddress } from "../../domain/people/accounts/confirm-address.ts";
import {
  confirmRegistration,
  isRegistrationOn,
  isRegistrationOpen,
  register,
} from "../../domain/people/accounts/register.ts";
import { findMailedCode } from "../../domain/people/mail/mailed-codes.ts";
import { invalid } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { readForm } from "./form.ts";
import { Field, Form, Notice } from "./layout.tsx";
import { renderMessage } from "./message.tsx";
import { findPasswordFault, NewPasswordFields } from "./new-password.tsx";
import { openPage, type Page } from "./open-page.ts";
import { orRefuse, type Refusal } from "./or-refuse.ts";
import { renderPage } from "./render-page.tsx";

const SIGN_UP = "/user/sign_up";
const ACTIVATION = "/user/activate";
const ADDRESS = "/user/activate_email";

/** Registering, and confirming addresses by links in mails. */
export const registration = new Hono<WebEnv>({ router: new TrieRouter() });

registration.get(SIGN_UP, async (c) => renderSignUp(c, await openPage(c)));

registration.post(SIGN_UP, async (c) => {
  const form = await readForm(c);
  const page = await openPage(c);
  const name = form.text("user_name");
  const email = form.text("email");
  return orRefuse(
    c,
    async () => {
      const { rateLimits, network } = c.var.base;
      const fault = findPasswordFault(form, page.ctx.config);
      if (fault !== undefined) throw invalid(fault);
      await rateLimits.count("SIGN_UPS", network && `from ${network}`);
      await rateLimits.count("SIGN_UPS", `for ${email.toLowerCase()}`);
      await register(page.ctx, { name, email, password: form.text("password") });
      return renderMessage(c, page, {
        title: "Look into your mail",
        text: `A mail is on its way to ${email}. Follow its link within a day to create your account.`,
      });
    },
    (refusal) => renderSignUp(c, page, { name, email, refusal }),
  );
});

registration.get(ACTIVATION, async (c) => {
  const page = await openPage(c);
  const code = c.req.query("code") ?? "";
  if (!(await isRegistrationOpen(page.ctx, code))) return renderEnded(c, page);
  return renderButton(c, page, {
    path: ACTIVATION,
    code,
    title: "Create your account",
    text: "Your address is confirmed with this button, and your account is created.",
  });
});

registration.post(ACTIVATION, async (c) => {
  const form = await readForm(c);
  const page = await openPage(c);
  const user = await confirmRegistration(page.ctx, form.text("code"));
  if (!user) return renderEnded(c, page);
  return renderMessage(c, page, {
    title: "Your account is ready",
    text: `Sign in as ${user.name}.`,
    link: { path: "/user/login", label: "Sign in" },
  });
});

registration.get(ADDRESS, async (c) => {
  const page = await openPage(c);
  const code = c.req.query("code") ?? "";
  const found = await findMailedCode(page.ctx, code, "confirm_address");
  if (!found) return renderEnded(c, page);
  return renderButton(c, page, {
    path: ADDRESS,
    code,
    title: "Confirm your address",
    text: `${found.address.email} becomes a confirmed address of ${found.user.name}.`,
  });
});

registration.post(ADDRESS, async (c) => {
  const form = await readForm(c);
  const page = await openPage(c);
  if (!(await confirmAddress(page.ctx, form.text("code")))) return renderEnded(c, page);
  return renderMessage(c, page, {
    title: "Your address is confirmed",
    text: "Commits with this address are shown as yours, and you can sign in with it.",
    link: { path: "/", label: "To the start" },
  });
});

/**
 * SECURITY: the same for every link that is not valid, so that none reveals whether an account
 * exists.
 */
const renderEnded = (c: Context<WebEnv>, page: Page) =>
  renderMessage(c, page, {
    title: "This link is not valid",
    text: "It was used already, is older than a day, or is not complete.",
    status: 404,
  });

interface ButtonPage {
  path: string;
  code: string;
  title: string;
  text: string;
}

/** A page with one button: programs that check mail open links, and press no buttons. */
const renderButton = (c: Context<WebEnv>, page: Page, { path, code, title, text }: ButtonPage) =>
  renderPage(
    c,
    page,
    { title },
    <section class="card narrow">
      <h1>{title}</h1>
      <p>{text}</p>
      <Form action={path} formToken={page.formToken}>
        <input type="hidden" name="code" value={code} />
        <button type="submit" class="primary wide">
          {title}
        </button>
      </Form>
    </section>,
  );

interface SignUpState {
  name?: string;
  email?: string;
  refusal?: Refusal;
}

const renderSignUp = (
  c: Context<WebEnv>,
  page: Page,
  { name = "", email = "", refusal }: SignUpState = {},
) =>
  isRegistrationOn(page.ctx.config)
    ? renderPage(
        c,
        page,
        { title: "Register", status: refusal?.status ?? 200 },
        <section class="card narrow">
          <h1>Register</h1>
          {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
          <Form action={SIGN_UP} formToken={page.formToken}>
            <Field
              label="User name"
              name="user_name"
              value={name}
              autocomplete="username"
              hint="Part of the addresses of your repositories."
              isFirst
            />
            <Field
              label="E-mail address"
              name="email"
              type="email"
              value={email}
              autocomplete="email"
              hint="You get a link there that creates the account."
            />
            <NewPasswordFields config={page.ctx.config} />
            <button type="submit" class="primary wide">
              Register
            </button>
          </Form>
        </section>,
      )
    : renderMessage(c, page, {
        title: "Register",
        text: "Nobody can register here. Ask the administrator of this service for an account.",
        status: 403,
      });
