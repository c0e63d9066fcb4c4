import type { Credential } from "../../auth/credential.ts";
import type { RegistryContext } from "../env.ts";

/** Maximum characters of a key. */
const LENGTH_MAX = 1024;

/**
 * Reads the key of `nuget push`, which is an access token.
 *
 * @returns Undefined without a key, and for a request with an `Authorization`, which then counts.
 */
export function readApiKey({ req }: RegistryContext): Credential | undefined {
  const key = req.header("x-nuget-apikey");
  if (!key || key.length > LENGTH_MAX || req.header("authorization")) return undefined;
  return { kind: "token", secret: key };
}
