import { expect } from "vitest";

import type { TokenAudience } from "../../src/auth/audience.ts";
import { hashSecret } from "../../src/auth/secret.ts";
import { oauthApplications, type OauthApplication, type User } from "../../src/db/schema/index.ts";
import { makeClientSecret } from "../../src/domain/people/oauth/client-secret.ts";
import { createGrant } from "../../src/domain/people/oauth/create-grant.ts";
import { parseRequestedScopes } from "../../src/domain/people/oauth/requested-scopes.ts";
import type { BoundRepository } from "../../src/domain/people/tokens/find-visible-repositories.ts";
import { formatBase64Url } from "../../src/lib/base64.ts";
import { only } from "../../src/lib/only.ts";
import type { Browser } from "./browser.ts";
import { type Answer, visit } from "./call.ts";
import { db } from "./db.ts";
import { freshName } from "./make.ts";
import { systemCtx } from "./system.ts";

/** An application with its secret. */
export interface TestApplication extends OauthApplication {
  secret: string;
}

export const CALLBACK = "https://app.example/callback";

/**
 * Registers an application; confidential, with one redirect URI, unless the fields say otherwise.
 */
export async function makeApplication(
  owner: { id: number | null },
  fields: Partial<OauthApplication> = {},
): Promise<TestApplication> {
  const secret = makeClientSecret();
  const rows = await db
    .insert(oauthApplications)
    .values({
      ownerId: owner.id,
      name: freshName("app"),
      clientId: crypto.randomUUID(),
      secretHash: await hashSecret(secret),
      isConfidential: true,
      redirectUris: [CALLBACK],
      createdAt: 1000,
      ...fields,
    })
    .returning();
  return { ...only(rows), secret };
}

/** A verifier of PKCE and its S256 challenge. */
export const PKCE = {
  verifier: "a-verifier-of-at-least-forty-three-characters",
  challenge: await challengeOf("a-verifier-of-at-least-forty-three-characters"),
};

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return formatBase64Url(new Uint8Array(digest));
}

/** What a user grants in a test. */
export interface Granting {
  /** As in an authorization request; `read:user`, if missing. */
  scope?: string;
  redirectUri?: string | null;
  codeChallenge?: string | null;
  nonce?: string | null;
  audience?: TokenAudience | null;
  repository?: BoundRepository | null;
  /** When it is granted, in milliseconds; now, if missing. */
  now?: number;
}

/**
 * Grants an application access to a user's account, as the consent page does, and returns the code.
 */
export function makeCodeFor(
  user: User,
  application: OauthApplication,
  { scope = "read:user", now = Date.now(), ...fields }: Granting = {},
): Promise<string> {
  const ctx = systemCtx({}, now);
  return createGrant({ ...ctx, actor: { ...ctx.actor, user } }, user, application, {
    requested: parseRequestedScopes(scope),
    audience: null,
    repository: null,
    redirectUri: CALLBACK,
    sentTo: CALLBACK,
    codeChallenge: null,
    nonce: null,
    authenticatedAt: 1_700_000_000_000,
    ...fields,
  });
}

type Visit = typeof visit;

/** Sends a form to an endpoint of the provider. */
export const postForm = (
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
  by: Visit = visit,
): Promise<Answer> =>
  by("POST", `/login/oauth/${path}`, { body: new URLSearchParams(fields), headers });

/** The fields by which a client names and proves itself. */
export const clientFields = ({ clientId, secret, isConfidential }: TestApplication) => ({
  client_id: clientId,
  ...(isConfidential && { client_secret: secret }),
});

/** Exchanges a code. */
export const exchange = (
  application: TestApplication,
  code: string,
  fields: Record<string, string> = {},
  by: Visit = visit,
): Promise<Answer> =>
  postForm(
    "access_token",
    {
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      ...clientFields(application),
      ...fields,
    },
    {},
    by,
  );

/** Exchanges a refresh token. */
export const refresh = (
  application: TestApplication,
  refreshToken: string,
  fields: Record<string, string> = {},
  by: Visit = visit,
): Promise<Answer> =>
  postForm(
    "access_token",
    {
      grant_type: "refresh_token",
      refresh_token: refreshToken,
      ...clientFields(application),
      ...fields,
    },
    {},
    by,
  );

/** The tokens that a user grants an application. */
export async function makeTokens(
  user: User,
  application: TestApplication,
  granting: Granting = {},
): Promise<{ access: string; refresh: string }> {
  const { status, body } = await exchange(
    application,
    await makeCodeFor(user, application, granting),
  );
  expect({ status, body }).toMatchObject({ status: 200 });
  return { access: body.access_token, refresh: body.refresh_token };
}

const AUTHORIZE = "/login/oauth/authorize";
const GRANT = "/login/oauth/grant";

/** The address of an authorization request with PKCE. A parameter that is undefined is left out. */
export function authorizationOf(
  client: Pick<OauthApplication, "clientId">,
  fields: Record<string, string | undefined> = {},
): string {
  const parameters = {
    client_id: client.clientId,
    redirect_uri: CALLBACK,
    response_type: "code",
    state: "s",
    code_challenge: PKCE.challenge,
    code_challenge_method: "S256",
    ...fields,
  };
  const sent = Object.entries(parameters).filter((each): each is [string, string] => !!each[1]);
  return `${AUTHORIZE}?${new URLSearchParams(sent)}`;
}

/** Where an answer leads, and what it says there. */
export function readRedirect({ status, headers }: Answer): Record<string, unknown> & {
  status: number;
  to: string;
} {
  const url = new URL(headers.get("location") ?? "none:");
  return { status, to: `${url.origin}${url.pathname}`, ...Object.fromEntries(url.searchParams) };
}

/** Opens the consent page of a request, and sends its form. */
export const consent = (
  browser: Browser,
  address: string,
  fields: Record<string, string> = {},
): Promise<Answer> => browser.submit(address, { granted: "true", ...fields }, GRANT);

/** Sends the metadata of a client that registers itself. */
export const register = (
  metadata: unknown,
  headers: Record<string, string> = {},
  by: Visit = visit,
): Promise<Answer> => by("POST", "/login/oauth/register", { json: metadata, headers });

/** A client that has registered itself. */
export async function registerPublic(
  fields: Record<string, unknown> = {},
): Promise<Pick<OauthApplication, "clientId">> {
  const { status, body } = await register({
    client_name: freshName("agent"),
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: "none",
    ...fields,
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return { clientId: body.client_id };
}

/** Exchanges a code of a public client. */
export const exchangePublic = (
  { clientId }: Pick<OauthApplication, "clientId">,
  code: unknown,
  fields: Record<string, string> = {},
): Promise<Answer> =>
  postForm("access_token", {
    grant_type: "authorization_code",
    client_id: clientId,
    code: String(code),
    redirect_uri: CALLBACK,
    code_verifier: PKCE.verifier,
    ...fields,
  });
