import { Buffer } from "node:buffer";

import { unauthenticated } from "../lib/failure.ts";

/** The credential of a request. */
export type Credential =
  | { kind: "none" }
  | { kind: "token"; secret: string }
  | { kind: "basic"; name: string; password: string };

/** Maximum length of a credential in bytes: longer ones are refused before anything is hashed. */
const LENGTH_MAX = 1024;

/**
 * Reads the credential of a request: `token` or `Bearer` followed by a token, or Basic.
 *
 * A header of any other form is ignored, as git and API clients expect.
 *
 * @throws Failure `unauthenticated` when the URL carries a token: every hop logs URLs, so the client must
 * learn that a token there is not used. Also for a credential that is too long or a Basic value without a
 * colon.
 */
export function readCredential(header: string | undefined, query: URLSearchParams): Credential {
  if (query.has("token") || query.has("access_token")) {
    throw unauthenticated(
      "tokens in the address are not accepted: send the header Authorization: token <token>",
    );
  }
  const [scheme = "", value = "", ...rest] = (header ?? "").trim().split(/\s+/);
  if (value === "" || rest.length > 0) return { kind: "none" };
  if (value.length > LENGTH_MAX) throw unauthenticated("the credential is too long");

  switch (scheme.toLowerCase()) {
    case "token":
    case "bearer":
      return { kind: "token", secret: value };
    case "basic":
      return readBasic(value);
    default:
      return { kind: "none" };
  }
}

function readBasic(value: string): Credential {
  const text = Buffer.from(value, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw unauthenticated("the Basic credential has no colon");
  return { kind: "basic", name: text.slice(0, colon), password: text.slice(colon + 1) };
}
