import { formatHex } from "../lib/hex.ts";

/** A new secret of 160 random bits, as 40 hex digits. */
export function makeSecret(): string {
  return formatHex(crypto.getRandomValues(new Uint8Array(20)));
}

/** The stored form of a secret: its SHA-256 in hex. Random secrets need no slow hash. */
export async function hashSecret(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return formatHex(new Uint8Array(digest));
}
