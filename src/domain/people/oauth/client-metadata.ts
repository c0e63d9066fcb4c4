import { z } from "zod";

import { OauthError } from "./oauth-error.ts";
import {
  isSecureRedirectUri,
  redirectHostOf,
  REDIRECT_URI_LENGTH_MAX,
  SECURE_REDIRECT_URI_RULE,
} from "./redirect-uri.ts";

/** What a client says about itself, as far as this service uses it. */
export interface ClientMetadata {
  /** SECURITY: a name that nobody has checked, of one line. */
  name: string;
  redirectUris: string[];
  /** How it proves itself; undefined if it says nothing of it. */
  authMethod: string | undefined;
}

/** Maximum number of redirect URIs of a client that describes itself. */
const REDIRECT_URIS_MAX = 20;
const NAME_LENGTH_MAX = 80;

const names = z.array(z.string().max(100)).max(20);

const Metadata = z.object({
  redirect_uris: z
    .array(
      z
        .string("must be texts")
        .max(REDIRECT_URI_LENGTH_MAX, `must have at most ${REDIRECT_URI_LENGTH_MAX} characters`)
        .refine(isSecureRedirectUri, `each ${SECURE_REDIRECT_URI_RULE}`),
      "must be a list of addresses",
    )
    .min(1, "must name an address")
    .max(REDIRECT_URIS_MAX, `must be at most ${REDIRECT_URIS_MAX}`),
  client_name: z.string("must be a text").nullish(),
  token_endpoint_auth_method: z.string("must be a text").nullish(),
  grant_types: names
    .refine((types) => types.includes("authorization_code"), "must include authorization_code")
    .nullish(),
  response_types: names.refine((types) => types.includes("code"), "must include code").nullish(),
});

/**
 * Parses what a client says about itself. What this service does not know is ignored.
 *
 * @throws OauthError `invalid_redirect_uri`, `invalid_client_metadata`.
 * @see RFC 7591 section 2
 */
export function parseClientMetadata(value: unknown): ClientMetadata {
  const parsed = Metadata.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = String(issue?.path[0] ?? "the metadata");
    throw new OauthError(
      field === "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata",
      field === "the metadata" ? "the metadata is no JSON object" : `${field} ${issue?.message}`,
    );
  }
  const { redirect_uris: redirectUris, client_name, token_endpoint_auth_method } = parsed.data;
  return {
    name: toName(client_name ?? "") || redirectHostOf(redirectUris[0] ?? ""),
    redirectUris,
    authMethod: token_endpoint_auth_method ?? undefined,
  };
}

/**
 * SECURITY: without characters that nobody sees, or that turn the order of the text around them.
 */
const toName = (text: string): string =>
  text
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim()
    .slice(0, NAME_LENGTH_MAX)
    .toWellFormed();
