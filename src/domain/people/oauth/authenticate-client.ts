import type { OauthApplication } from "../../../db/schema/index.ts";
import { hashSecret } from "../../../auth/secret.ts";

/** The credentials of a client. */
export interface ClientCredentials {
  readonly clientId: string;
  /** "" if it sends none. */
  readonly secret: string;
}

/**
 * Whether a client is the application that it names: a confidential client by its secret. A public
 * client has none to send; if it sends one all the same, that must be right.
 */
export async function isClient(
  { isConfidential, secretHash }: OauthApplication,
  { secret }: ClientCredentials,
): Promise<boolean> {
  if (secret === "") return !isConfidential;
  // Hashes of random secrets: how long their comparison takes says nothing of the secret.
  return secretHash !== null && (await hashSecret(secret)) === secretHash;
}
