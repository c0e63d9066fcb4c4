import { Buffer } from "node:buffer";

import { unauthenticated } from "../lib/failure.ts";

/** The credential of a request. */
export type Credential =
  | { kind: "none" }
  | { kind: "token"; secret: string }
  | { kind: "basic"; name: string; password: string }
  /** From the cookie of a page's request. */
  | { kind: "session"; secret: string }
  /**
   * Made by the service for a transfer: the caller who asked for it, and what they signed in with.
   */
  | { kind: "transfer"; userId: number; tokenId: number }
  | { kind: "transfer"; userId: number; tokenId?: undefined; signInMark: string };

/** Maximum length of a credential in bytes: longer ones are refused before anything is hashed. */
const LENGTH_MAX = 1024;

/**
 * Reads the credential of a request: `token` or `Bearer` followed by a token, or Basic.
 *
 * A header of another scheme, or without a value, is ignored, as git and API clients expect. Equal
 * headers count as one: a client may add its own to one that its settings contain.
 *
 * @param header The values of all `Authorization` headers, with commas between, as the platform
 * joins them. No value of these schemes contains a comma.
 * @throws Failure `unauthenticated` when the URL carries a token: every hop logs URLs, so the
 * client must learn that a token there is not used. Also for a header of these schemes that can't
 * be read, and for different headers: who sends one of them does not expect to be anonymous, or
 * somebody else.
 */
export function readCredential(header: string | undefined, query: URLSearchParams): Credential {
  if (query.has("token") || query.has("access_token")) {
    throw unauthenticated(
      "tokens in the address are not accepted: send the header Authorization: token <token>",
    );
  }
  const values = new Set(
    (header ?? "").split(",").map((value) => value.trim().replace(/\s+/g, " ")),
  );
  const value = [...values].find((each) => /^(token|bearer|basic) /i.test(each));
  if (value === undefined) return { kind: "none" };
  if (values.size > 1) throw unauthenticated("the request has different Authorization headers");

  const [scheme = "", text = "", ...rest] = value.split(" ");
  if (rest.length > 0) {
    throw unauthenticated(`the header is not of the form Authorization: ${scheme} <credential>`);
  }
  if (text.length > LENGTH_MAX) throw unauthenticated("the credential is too long");
  return scheme.toLowerCase() === "basic" ? readBasic(text) : { kind: "token", secret: text };
}

function readBasic(value: string): Credential {
  const text = Buffer.from(value, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw unauthenticated("the Basic credential has no colon");
  return { kind: "basic", name: text.slice(0, colon), password: text.slice(colon + 1) };
}
