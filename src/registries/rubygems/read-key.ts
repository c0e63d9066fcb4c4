import type { Credential } from "../../auth/credential.ts";
import type { RegistryContext } from "../env.ts";

/**
 * Reads the key of a request of `gem push`, which is the whole value of the header:
 * `Authorization: <key>`.
 *
 * @returns Undefined for a header with a scheme, and without one: these are read as at the other
 *   doors.
 */
export function readGemKey({ req }: RegistryContext): Credential | undefined {
  const value = (req.header("authorization") ?? "").trim();
  return /^[^\s,]{1,1024}$/.test(value) ? { kind: "token", secret: value } : undefined;
}
