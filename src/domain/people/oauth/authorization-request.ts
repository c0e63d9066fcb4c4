import { and, eq } from "drizzle-orm";

import type { TokenAudience } from "../../../auth/audience.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { oauthApplications, users, type OauthApplication } from "../../../db/schema/index.ts";
import { malformed } from "../../../lib/failure.ts";
import { mayServe } from "./find-grant.ts";
import { OauthError } from "./oauth-error.ts";
import { isChallenge } from "./pkce.ts";
import { isRegistered } from "./redirect-uri.ts";
import { parseRequestedScopes, type RequestedScopes } from "./requested-scopes.ts";
import { parseResource } from "./resource.ts";

/** The parameters of an authorization request, by which a page repeats it. */
export const REQUEST_PARAMETERS = [
  "client_id",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
  "nonce",
  "resource",
  "code_challenge",
  "code_challenge_method",
] as const;

/** An authorization request whose answer may be sent to its client. */
export interface Addressed {
  application: OauthApplication;
  /** The name of the user who registered the application; null for a client of the service. */
  ownerName: string | null;
  /** Where the answer goes. */
  redirectUri: string;
}

/** A checked authorization request. */
export interface AuthorizationRequest {
  requested: RequestedScopes;
  /** The part of the service that the tokens are for; null for all of it. */
  audience: TokenAudience | null;
  codeChallenge: string | null;
  nonce: string | null;
  prompt: "none" | "login" | "consent" | undefined;
  /** How long ago the user may have signed in, in milliseconds. */
  ageMaxMs: number | undefined;
}

/** The scopes of a request that names none, of a client that nobody knows or for agents alone. */
const READ_BY_DEFAULT = ["read:repository", "read:issue", "read:user"] as const;

/** Maximum length of a parameter that is stored. */
const NONCE_LENGTH_MAX = 1000;

/**
 * Finds the client of an authorization request, and the address of the answer.
 *
 * SECURITY: until both are known to belong together, the answer is a page and no redirect: else
 * this service would lead to any address that a link names.
 *
 * @throws Failure `malformed` with a message for the user.
 */
export async function findAddressed(
  { db }: Pick<Ctx, "db">,
  parameters: URLSearchParams,
): Promise<Addressed> {
  for (const name of ["client_id", "redirect_uri"]) {
    if (parameters.getAll(name).length > 1) throw malformed(`The request has ${name} twice.`);
  }
  const [found] = await clientAndOwner(db, { clientId: parameters.get("client_id") ?? "" });
  if (!found) throw malformed("Client ID not registered");

  const { application } = found;
  const sent = parameters.get("redirect_uri");
  const [only, ...others] = application.redirectUris;
  if (sent === null && only !== undefined && others.length === 0) {
    return { ...found, redirectUri: only };
  }
  if (sent === null || !isRegistered(application, sent)) {
    throw malformed("The address to which the application leads is not registered for it.");
  }
  return { ...found, redirectUri: sent };
}

const clientAndOwner = prepare((db, { clientId }: Params<{ clientId: string }>) =>
  db
    .select({ application: columnsOf(oauthApplications, "a"), ownerName: users.name })
    .from(oauthApplications)
    .leftJoin(users, eq(users.id, oauthApplications.ownerId))
    .where(and(eq(oauthApplications.clientId, clientId), mayServe)),
);

/**
 * Reads what an authorization request asks for.
 *
 * @throws OauthError to be sent to the client.
 */
export function readAuthorizationRequest(
  ctx: Pick<Ctx, "config" | "rootUrl">,
  { isConfidential, registration }: OauthApplication,
  parameters: URLSearchParams,
): AuthorizationRequest {
  const text = (name: string): string => parameters.get(name) ?? "";
  for (const name of parameters.keys()) {
    if (parameters.getAll(name).length > 1) throw invalidRequest(`${name} is there twice`);
  }
  if (parameters.has("request")) {
    throw new OauthError("request_not_supported", "request objects are not supported");
  }
  if (parameters.has("request_uri")) {
    throw new OauthError("request_uri_not_supported", "request objects are not supported");
  }
  if (text("response_type") !== "code") {
    throw new OauthError("unsupported_response_type", "Only code response type is supported.");
  }
  if (!["", "query"].includes(text("response_mode"))) {
    throw invalidRequest("only the response mode query is supported");
  }
  const resource = text("resource");
  const audience = resource === "" ? null : parseResource(ctx.rootUrl, resource);
  const isManual = registration === "manual";
  const requested = parseRequestedScopes(
    text("scope"),
    isManual && audience === null ? undefined : READ_BY_DEFAULT,
  );
  if (requested.identity.includes("openid") && ctx.config.oauthSigningKeys.length === 0) {
    throw new OauthError("invalid_scope", "this service has no key to sign ID tokens");
  }
  const nonce = text("nonce");
  if (nonce.length > NONCE_LENGTH_MAX) throw invalidRequest("the nonce is too long");
  return {
    requested,
    audience,
    codeChallenge: readChallenge(text, isConfidential && isManual),
    nonce: nonce === "" ? null : nonce,
    ...readPrompt(text),
  };
}

/** @param mayLeaveOut Whether PKCE is the client's choice: it has a secret that its owner keeps. */
function readChallenge(text: (name: string) => string, mayLeaveOut: boolean): string | null {
  const [challenge, method] = [text("code_challenge"), text("code_challenge_method")];
  if (challenge === "" && method === "") {
    if (!mayLeaveOut) throw invalidRequest("PKCE is required for public clients");
    return null;
  }
  // SECURITY: with the method `plain`, anyone who sees the request could exchange its code.
  if (method !== "S256") throw invalidRequest("unsupported code challenge method");
  if (!isChallenge(challenge)) throw invalidRequest("the code challenge is not one of S256");
  return challenge;
}

/** @see OpenID Connect Core, section 3.1.2.1 */
function readPrompt(
  text: (name: string) => string,
): Pick<AuthorizationRequest, "prompt" | "ageMaxMs"> {
  const prompts = new Set(
    text("prompt")
      .split(" ")
      .filter((prompt) => prompt !== ""),
  );
  const isNone = prompts.delete("none");
  if (isNone && prompts.size > 0) throw invalidRequest("the prompt none is there with others");
  const age = text("max_age");
  if (!/^\d{0,9}$/.test(age)) throw invalidRequest("max_age is not a number of seconds");
  const prompt = prompts.has("login")
    ? "login"
    : prompts.has("consent") || prompts.has("select_account")
      ? "consent"
      : undefined;
  return {
    prompt: isNone ? "none" : prompt,
    ageMaxMs: age === "" ? undefined : Number(age) * 1000,
  };
}

const invalidRequest = (message: string) => new OauthError("invalid_request", message);
