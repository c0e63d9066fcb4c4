import type { SealingKey } from "../config.ts";

/**
 * A key that signs tokens of the service, derived from one that seals, so that neither reveals the
 * other.
 *
 * @param purpose What the tokens are for. A token that is signed for another purpose is not valid.
 */
export async function deriveSigningKey({ bytes }: SealingKey, purpose: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    {
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(0),
      info: new TextEncoder().encode(purpose),
    },
    material,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign", "verify"],
  );
}
