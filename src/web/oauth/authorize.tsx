import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  type Addressed,
  type AuthorizationRequest,
  findAddressed,
  readAuthorizationRequest,
  REQUEST_PARAMETERS,
} from "../../domain/people/oauth/authorization-request.ts";
import { createGrant, isGrantedBefore } from "../../domain/people/oauth/create-grant.ts";
import { OauthError } from "../../domain/people/oauth/oauth-error.ts";
import { endSession } from "../../domain/people/sessions/end-sessions.ts";
import { deleteCookie } from "../cookies.ts";
import type { WebEnv } from "../env.ts";
import { readForm } from "../pages/form.ts";
import { Form } from "../pages/layout.tsx";
import { openOwnPage, openPage, type OwnPage, requireOwn } from "../pages/open-page.ts";
import { redirectAfterWrite } from "../pages/redirect-after-write.ts";
import { withRedirectTo } from "../pages/redirect-to.ts";
import { renderPage } from "../pages/render-page.tsx";
import { renderPageFailure } from "../pages/render-page-failure.tsx";
import { ScopeWords } from "../pages/scope-words.tsx";

/** The pages on which users grant applications access. */
export const authorize = new Hono<WebEnv>({ router: new TrieRouter() });

const PATH = "/login/oauth/authorize";
const GRANT_PATH = "/login/oauth/grant";
const AGAIN_PATH = "/login/oauth/sign_in_again";

/** @see RFC 6749 section 4.1.1 */
authorize.get(PATH, async (c) => {
  const parameters = new URL(c.req.url).searchParams;
  const page = await openPage(c);
  const addressed = await findAddressed(page.ctx, parameters);
  try {
    const request = readAuthorizationRequest(page.ctx, addressed.application, parameters);
    const isSignedIn = page.ctx.actor.session !== undefined;
    if (!isSignedIn && request.prompt === "none") throw loginRequired();
    return await answer(c, requireOwn(c, page), addressed, request, parameters);
  } catch (error) {
    if (error instanceof OauthError) return refuse(c, addressed, parameters, error);
    throw error;
  }
});

/** The decision of the user. */
authorize.post(GRANT_PATH, async (c) => {
  const form = await readForm(c);
  const page = await openOwnPage(c);
  // The form repeats the request, and all of it is checked again.
  const parameters = new URLSearchParams();
  for (const name of REQUEST_PARAMETERS) {
    if (form.text(name) !== "") parameters.set(name, form.text(name));
  }
  const addressed = await findAddressed(page.ctx, parameters);
  try {
    const request = readAuthorizationRequest(page.ctx, addressed.application, parameters);
    if (form.text("granted") !== "true") {
      throw new OauthError("access_denied", "the request is denied");
    }
    return await grant(c, page, addressed, request, parameters);
  } catch (error) {
    if (error instanceof OauthError) return refuse(c, addressed, parameters, error);
    throw error;
  }
});

/** Ends the session, and leads back to the request over a new sign-in. */
authorize.post(AGAIN_PATH, async (c) => {
  const form = await readForm(c);
  const { ctx, session } = await openOwnPage(c);
  await endSession(ctx, session.userId, session.id);
  deleteCookie(c, "session");
  const parameters = new URLSearchParams(form.text("query"));
  // Done by then.
  parameters.delete("prompt");
  return redirectAfterWrite(c, withRedirectTo("/user/login", `${PATH}?${parameters}`));
});

async function answer(
  c: Context<WebEnv>,
  page: OwnPage,
  addressed: Addressed,
  request: AuthorizationRequest,
  parameters: URLSearchParams,
): Promise<Response> {
  const { application } = addressed;
  const { prompt } = request;
  if (isSignInOld(page, request)) {
    if (prompt === "none") throw loginRequired();
    return renderSignInAgain(c, page, addressed, parameters);
  }
  const mayBeSilent = application.isConfidential || application.skipsConsent;
  const isSilent =
    mayBeSilent &&
    prompt !== "consent" &&
    (await isGrantedBefore(page.ctx, page.user, application, request.requested));
  if (isSilent) return grant(c, page, addressed, request, parameters);
  if (prompt === "none") throw new OauthError("consent_required", "the user must be asked first");
  return renderConsent(c, page, addressed, request, parameters);
}

const loginRequired = () => new OauthError("login_required", "the user must sign in first");

const isSignInOld = (
  { ctx, session }: OwnPage,
  { prompt, ageMaxMs }: AuthorizationRequest,
): boolean =>
  prompt === "login" || (ageMaxMs !== undefined && session.createdAt + ageMaxMs < ctx.now);

async function grant(
  c: Context<WebEnv>,
  { ctx, user, session }: OwnPage,
  { application, redirectUri }: Addressed,
  { requested, codeChallenge, nonce }: AuthorizationRequest,
  parameters: URLSearchParams,
): Promise<Response> {
  const code = await createGrant(ctx, user, application, {
    requested,
    redirectUri: parameters.get("redirect_uri"),
    sentTo: redirectUri,
    codeChallenge,
    nonce,
    authenticatedAt: session.createdAt,
  });
  return leadBack(c, redirectUri, parameters, { code });
}

const refuse = (
  c: Context<WebEnv>,
  { redirectUri }: Addressed,
  parameters: URLSearchParams,
  { code, message }: OauthError,
): Response => leadBack(c, redirectUri, parameters, { error: code, error_description: message });

/**
 * Sends the answer to the client by way of the browser.
 *
 * @param redirectUri One that is registered.
 * @see RFC 6749 section 4.1.2; RFC 9207 for `iss`
 */
function leadBack(
  c: Context<WebEnv>,
  redirectUri: string,
  parameters: URLSearchParams,
  fields: Readonly<Record<string, string>>,
): Response {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  const [state] = parameters.getAll("state");
  if (state !== undefined) url.searchParams.set("state", state);
  url.searchParams.set("iss", c.var.base.rootUrl);
  c.header("Cache-Control", "no-store");
  c.header("Referrer-Policy", "no-referrer");
  return c.redirect(url.href, 303);
}

function renderConsent(
  c: Context<WebEnv>,
  page: OwnPage,
  { application, ownerName, redirectUri }: Addressed,
  { requested }: AuthorizationRequest,
  parameters: URLSearchParams,
) {
  return renderPage(
    c,
    page,
    { title: "Grant access", formTargets: [formTargetOf(redirectUri)] },
    <section class="card narrow">
      <h1>Grant access to {application.name}?</h1>
      <p>
        {ownerName === null
          ? "A tool that this service knows"
          : `An application that ${ownerName} registered`}{" "}
        asks for access to your account <strong>{page.user.name}</strong>. It will be able to:
      </p>
      <ScopeWords {...requested} />
      <p>
        Then you are led to <strong>{hostOf(redirectUri)}</strong>. Grant access only if you began
        this yourself, and trust the person who is there.
      </p>
      <Form action={GRANT_PATH} formToken={page.formToken}>
        {REQUEST_PARAMETERS.filter((name) => parameters.has(name)).map((name) => (
          <input type="hidden" name={name} value={parameters.get(name) ?? ""} />
        ))}
        <button type="submit" name="granted" value="true" class="primary wide">
          Grant access
        </button>
        <button type="submit" name="granted" value="false" class="wide">
          Refuse
        </button>
      </Form>
    </section>,
  );
}

function renderSignInAgain(
  c: Context<WebEnv>,
  page: OwnPage,
  { application }: Addressed,
  parameters: URLSearchParams,
) {
  return renderPage(
    c,
    page,
    { title: "Sign in again" },
    <section class="card narrow">
      <h1>Sign in again</h1>
      <p>
        {application.name} asks that you sign in once more before you go on. You are signed in as{" "}
        <strong>{page.user.name}</strong>.
      </p>
      <Form action={AGAIN_PATH} formToken={page.formToken}>
        <input type="hidden" name="query" value={String(parameters)} />
        <button type="submit" class="primary wide">
          Go on to the sign-in
        </button>
      </Form>
    </section>,
  );
}

/** The address to which the form's redirect leads, as a source of the page's policy. */
function formTargetOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  const isWeb = protocol === "http:" || protocol === "https:";
  // Policies know no IPv6 addresses.
  return isWeb && !host.startsWith("[") ? `${protocol}//${host}` : protocol;
}

/** The part of an address that users know: its host, or the scheme of an application. */
function hostOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === "http:" || protocol === "https:" ? host : protocol;
}

authorize.onError(renderPageFailure);
