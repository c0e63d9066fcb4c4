import type { Credential } from "../../auth/credential.ts";
import { unauthenticated } from "../../lib/failure.ts";
import type { RegistryContext } from "../env.ts";

const LENGTH_MAX = 1024;

/**
 * The token that cargo sends: its provider of tokens sends the header's value as the user wrote it,
 * so that the scheme may be missing.
 *
 * @returns Undefined where the header has a scheme, which is read as everywhere else, and without a
 *   header.
 * @throws Failure `unauthenticated` for a value that is too long to be a token.
 * @see "Registry Web API" of the Cargo Book, "Authorization".
 */
export function readCargoToken(c: RegistryContext): Credential | undefined {
  const value = c.req.header("authorization")?.trim() ?? "";
  if (value === "" || /[\s,]/.test(value)) return undefined;
  if (value.length > LENGTH_MAX) throw unauthenticated("the credential is too long");
  return { kind: "token", secret: value };
}
