import { Buffer } from "node:buffer";

import type { Context } from "hono";

import type { ClientCredentials } from "../../domain/people/oauth/authenticate-client.ts";
import { OauthError } from "../../domain/people/oauth/oauth-error.ts";
import type { WebEnv } from "../env.ts";

/** Maximum bytes of a request: the largest field is a redirect URI. */
const BYTES_MAX = 16 * 1024;

/** A request of a client to the endpoints that it calls itself. */
export interface ClientRequest {
  /** A field as it was sent; "" if it is missing. */
  text: (name: string) => string;
  client: ClientCredentials;
}

/**
 * Reads the request of a client: a form, or JSON, with its id and secret in the body or as Basic.
 *
 * @throws OauthError `invalid_request` if it can't be read, repeats a field, or names two clients.
 */
export async function readClientRequest(c: Context<WebEnv>): Promise<ClientRequest> {
  const fields = await readFields(c);
  const text = (name: string): string => fields.get(name) ?? "";
  const inBody = { clientId: text("client_id"), secret: text("client_secret") };
  const header = c.req.header("authorization");
  if (header === undefined) return { text, client: inBody };

  const inHeader = readBasic(header);
  if (inBody.clientId !== "" && inBody.clientId !== inHeader.clientId) {
    throw new OauthError(
      "invalid_request",
      "client_id in request body inconsistent with Authorization header",
    );
  }
  if (inBody.secret !== "" && inBody.secret !== inHeader.secret) {
    throw new OauthError(
      "invalid_request",
      "client_secret in request body inconsistent with Authorization header",
    );
  }
  return { text, client: inHeader };
}

/** @see RFC 6749 section 2.3.1: both parts are encoded as in forms, before Basic encodes them. */
function readBasic(header: string): ClientCredentials {
  const refusal = new OauthError("invalid_request", "cannot parse basic auth header");
  const [, base64] = /^basic +([0-9a-z+/]+={0,2})$/i.exec(header.trim()) ?? [];
  if (base64 === undefined || base64.length > 2048) throw refusal;
  const text = Buffer.from(base64, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw refusal;
  return { clientId: decode(text.slice(0, colon)), secret: decode(text.slice(colon + 1)) };
}

/**
 * Ids and secrets hold no character that the encoding changes, so what is not encoded is left as it
 * is.
 */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/**
 * Reads a request whose body is JSON, of any shape.
 *
 * @throws OauthError `invalid_client_metadata` if it can't be read.
 */
export async function readMetadataRequest(c: Context<WebEnv>): Promise<unknown> {
  const refusal = new OauthError("invalid_client_metadata", "the body is not JSON");
  const body = await readText(c);
  if (typeOf(c) !== "application/json") throw refusal;
  return parseAs(body, refusal);
}

const typeOf = (c: Context<WebEnv>): string =>
  c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";

async function readFields(c: Context<WebEnv>): Promise<Map<string, string>> {
  const type = typeOf(c);
  const body = await readText(c);
  if (type === "application/json") return readJson(body);
  if (type !== "application/x-www-form-urlencoded" && body !== "") {
    throw new OauthError("invalid_request", "the request must be a form or JSON");
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body)) {
    // RFC 6749 section 3.2: of two values, one could be checked and the other used.
    if (fields.has(name)) throw new OauthError("invalid_request", `${name} is there twice`);
    fields.set(name, value);
  }
  return fields;
}

function readJson(body: string): Map<string, string> {
  const refusal = new OauthError("invalid_request", "the body is not a JSON object of texts");
  const value = parseAs(body, refusal);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refusal;
  const fields = new Map<string, string>();
  for (const [name, field] of Object.entries(value)) {
    if (typeof field !== "string") throw refusal;
    fields.set(name, field);
  }
  return fields;
}

function parseAs(body: string, refusal: OauthError): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal;
    throw error;
  }
}

async function readText(c: Context<WebEnv>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > BYTES_MAX) throw new OauthError("invalid_request", "the request is too large");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
