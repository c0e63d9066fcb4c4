import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { oauthApplications } from "../../../db/schema/index.ts";
import { malformed } from "../../../lib/failure.ts";
import { parseJson } from "../../../lib/json.ts";
import type { Outcome } from "../../../outgoing/outcome.ts";
import { type ClientMetadata, parseClientMetadata } from "./client-metadata.ts";
import { findClient } from "./find-grant.ts";
import { OauthError } from "./oauth-error.ts";
import { UNGRANTED_LIFE_MS } from "./purge-applications.ts";

const MINUTE_MS = 60 * 1000;

/** How long a copy is used at least and at most, whatever the document's host says. */
const FRESH_MS = { min: 5 * MINUTE_MS, max: 24 * 60 * MINUTE_MS };

/** SECURITY: anybody names the host. A redirect could lead to where the name does not. */
const LIMITS = { timeoutMs: 5000, bodyBytesMax: 16 * 1024, redirectsMax: 0 };

const URL_LENGTH_MAX = 500;

/**
 * Reads the document about a client whose id is the document's URL, and stores what it says, unless
 * a copy is fresh.
 *
 * @param count Counts a request to the document's host, and throws where there are too many.
 * @throws Failure `malformed` with a message for the user.
 * @see draft-ietf-oauth-client-id-metadata-document-00
 */
export async function readClientDocument(
  ctx: Ctx,
  url: string,
  count: () => Promise<void>,
): Promise<void> {
  if (!ctx.config.mayClientsHaveDocuments) throw malformed("Client ID not registered");
  if (!isDocumentUrl(url)) throw malformed("The client ID is not the address of a document.");
  const known = await findClient(ctx, url);
  if (known && (known.freshUntil ?? 0) > ctx.now) return;

  await count();
  const headers = { Accept: "application/json" };
  const outcome = await ctx.outgoing.fetchGuarded(url, { headers }, LIMITS);
  const { name, redirectUris } = await parseDocument(url, outcome);
  const copy = {
    name,
    redirectUris,
    freshUntil: ctx.now + freshMsOf(outcome),
    expiresAt: ctx.now + UNGRANTED_LIFE_MS,
  };
  await ctx.db
    .insert(oauthApplications)
    .values({
      ...copy,
      clientId: url,
      registration: "document",
      isConfidential: false,
      createdAt: ctx.now,
    })
    .onConflictDoUpdate({
      target: oauthApplications.clientId,
      set: copy,
      setWhere: sql`${oauthApplications.registration} = 'document'`,
    });
}

/** An https URL with a path, written as URLs are compared: one document has one id. */
function isDocumentUrl(text: string): boolean {
  const url = text.length <= URL_LENGTH_MAX ? URL.parse(text) : null;
  return (
    url?.href === text &&
    url.protocol === "https:" &&
    url.pathname !== "/" &&
    url.username === "" &&
    url.password === "" &&
    !text.includes("#")
  );
}

async function parseDocument(url: string, outcome: Outcome): Promise<ClientMetadata> {
  const refusal = (reason: string) =>
    malformed(`The document at ${url} does not describe the application: ${reason}.`);
  switch (outcome.kind) {
    case "answered":
      break;
    case "blocked":
    case "network":
      throw refusal(outcome.reason);
    case "timeout":
      throw refusal("its host did not answer in time");
    case "too_large":
      throw refusal("it is too large");
    default:
      return outcome satisfies never;
  }
  if (outcome.status !== 200) throw refusal(`its host answered with ${outcome.status}`);
  const type = outcome.headers.get("Content-Type") ?? "";
  if (!/^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type.trim())) {
    throw refusal("it is not sent as JSON");
  }
  const value = await readJson(outcome.body);
  // SECURITY: the document of another client would lead its codes to this one's addresses.
  if (typeof value !== "object" || value === null || Reflect.get(value, "client_id") !== url) {
    throw refusal("it states another client_id");
  }
  // What both knew would be no secret.
  if (Object.hasOwn(value, "client_secret")) throw refusal("it has a client_secret");
  try {
    const metadata = parseClientMetadata(value);
    const { authMethod = "none" } = metadata;
    if (authMethod !== "none") throw refusal(`${authMethod} is not supported, only none`);
    return metadata;
  } catch (error) {
    if (error instanceof OauthError) throw refusal(error.message);
    throw error;
  }
}

/** @returns Undefined for anything else than JSON in UTF-8. */
async function readJson(bytes: Uint8Array): Promise<unknown> {
  try {
    return await parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** @see RFC 9111 section 5.2.2 */
function freshMsOf(outcome: Outcome): number {
  const header = outcome.kind === "answered" ? outcome.headers.get("Cache-Control") : null;
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(header ?? "") ?? [];
  const isUncached = /(?:^|[\s,])no-(?:store|cache)/i.test(header ?? "");
  const ms = isUncached ? 0 : Number(seconds ?? 0) * 1000;
  return Math.min(Math.max(ms, FRESH_MS.min), FRESH_MS.max);
}
