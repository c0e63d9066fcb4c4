import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  type Addressed,
  type AuthorizationRequest,
  findAddressed,
  readAuthorizationRequest,
  REQUEST_PARAMETERS,
} from "../../domain/people/oauth/authorization-request.ts";
import {
  type Authorization,
  createGrant,
  isGrantedBefore,
} from "../../domain/people/oauth/create-grant.ts";
import { OauthError } from "../../domain/people/oauth/oauth-error.ts";
import { readClientDocument } from "../../domain/people/oauth/read-client-document.ts";
import { redirectHostOf } from "../../domain/people/oauth/redirect-uri.ts";
import { limitScopes } from "../../domain/people/oauth/requested-scopes.ts";
import { endSession } from "../../domain/people/sessions/end-sessions.ts";
import { findVisibleRepositories } from "../../domain/people/tokens/find-visible-repositories.ts";
import { malformed } from "../../lib/failure.ts";
import { deleteCookie } from "../cookies.ts";
import type { WebEnv } from "../env.ts";
import { FormState } from "../pages/create/form-state.ts";
import { type Form as SentForm, readForm } from "../pages/form.ts";
import { Form } from "../pages/layout.tsx";
import { openOwnPage, openPage, type OwnPage, type Page, requireOwn } from "../pages/open-page.ts";
import { orRefuse } from "../pages/or-refuse.ts";
import { redirectAfterWrite } from "../pages/redirect-after-write.ts";
import { withRedirectTo } from "../pages/redirect-to.ts";
import { renderPage } from "../pages/render-page.tsx";
import { renderPageFailure } from "../pages/render-page-failure.tsx";
import { GRANT_PATH, readChoice, readRepository, renderConsent } from "./consent.tsx";

/** The pages on which users grant applications access. */
export const authorize = new Hono<WebEnv>({ router: new TrieRouter() });

const PATH = "/login/oauth/authorize";
const AGAIN_PATH = "/login/oauth/sign_in_again";

/** @see RFC 6749 section 4.1.1 */
authorize.get(PATH, async (c) => {
  const parameters = new URL(c.req.url).searchParams;
  const page = await openPage(c);
  const addressed = await openAddressed(c, page, parameters);
  try {
    const request = readAuthorizationRequest(page.ctx, addressed.application, parameters);
    const isSignedIn = page.ctx.actor.session !== undefined;
    if (!isSignedIn && request.prompt === "none") throw loginRequired();
    return await answer(c, requireOwn(c, page), addressed, request, parameters);
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    return addressed.application.registration === "manual"
      ? refuse(c, addressed, parameters, error)
      : renderRefusal(c, page, addressed, error);
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
  const addressed = await openAddressed(c, page, parameters);
  try {
    const request = readAuthorizationRequest(page.ctx, addressed.application, parameters);
    if (form.text("granted") !== "true") {
      throw new OauthError("access_denied", "the request is denied");
    }
    return await orRefuse(
      c,
      async () => {
        const choice = await readChoices(page, request, form);
        return grant(c, page, addressed, request, parameters, choice);
      },
      (refusal) =>
        renderConsent(c, page, addressed, request, parameters, FormState.refused(form, refusal)),
    );
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

/** Finds the client of a request; one that a document describes is read for its user alone. */
async function openAddressed(
  c: Context<WebEnv>,
  page: Page,
  parameters: URLSearchParams,
): Promise<Addressed> {
  const clientId = parameters.get("client_id") ?? "";
  if (clientId.startsWith("https://")) {
    // SECURITY: after the sign-in, so that nobody has this service request what they like.
    const { ctx, user } = requireOwn(c, page);
    await readClientDocument(ctx, clientId, () =>
      c.var.base.rateLimits.count("CLIENT_DOCUMENTS", String(user.id)),
    );
  }
  return findAddressed(page.ctx, parameters);
}

/** What the user grants of a request. */
type Choice = Pick<Authorization, "requested" | "repository">;

/** @throws Failure `invalid` for a repository that is not there, `malformed` if nothing is left. */
async function readChoices(
  { ctx }: OwnPage,
  { requested }: AuthorizationRequest,
  form: SentForm,
): Promise<Choice> {
  const limited = limitScopes(requested, (category) => readChoice(form, category));
  if (requested.scopes.levels.size > 0 && limited.scopes.levels.size === 0) {
    throw malformed("Nothing is left that it may do: refuse instead.");
  }
  const name = readRepository(form);
  const [repository = null] =
    name === "" ? [] : await findVisibleRepositories(ctx, [name], "repository");
  return { requested: limited, repository };
}

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
  // SECURITY: anybody can pose as a client that no person has registered.
  const mayBeSilent =
    application.registration === "manual" &&
    (application.isConfidential || application.skipsConsent);
  const isSilent =
    mayBeSilent &&
    prompt !== "consent" &&
    (await isGrantedBefore(page.ctx, page.user, application, request));
  if (isSilent) {
    const { requested } = request;
    return grant(c, page, addressed, request, parameters, { requested, repository: null });
  }
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
  { audience, codeChallenge, nonce }: AuthorizationRequest,
  parameters: URLSearchParams,
  choice: Choice,
): Promise<Response> {
  const code = await createGrant(ctx, user, application, {
    ...choice,
    audience,
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

/**
 * Refuses a request of a client that no person has registered.
 *
 * SECURITY: on a page, since anybody can make such a client: a link to this service would lead on
 * to any address by a request that is refused.
 */
function renderRefusal(
  c: Context<WebEnv>,
  page: Page,
  { application, redirectUri }: Addressed,
  { code, message }: OauthError,
) {
  const host = redirectHostOf(redirectUri);
  return renderPage(
    c,
    page,
    { title: "Not possible", status: 400 },
    <section class="card narrow">
      <h1>Not possible</h1>
      <p>
        {application.name}, which leads to <strong>{host}</strong>, sent a request that this service
        refuses: {message} <code>{code}</code>
      </p>
      <p>Nothing was granted. You can close this page.</p>
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

authorize.onError(renderPageFailure);
