import { unseal } from "../../../auth/seal.ts";
import type { Config } from "../../../config.ts";
import type { totpSecrets } from "../../../db/schema/index.ts";

/** The purpose for which secrets of authenticator apps are sealed. */
export const TOTP_PURPOSE = "totp secret";

/**
 * The secret of an authenticator app.
 *
 * @throws Error where the service no longer has the key that sealed it.
 */
export async function openTotpSecret(
  { sealingKeys }: Config,
  { sealedSecret }: Pick<typeof totpSecrets.$inferSelect, "sealedSecret">,
): Promise<string> {
  const unsealed = await unseal(sealingKeys, sealedSecret, TOTP_PURPOSE);
  // SECURITY: never as if the user had no second factor.
  if (unsealed.kind !== "open") throw new Error(`secret of an authenticator app: ${unsealed.kind}`);
  return unsealed.text;
}
