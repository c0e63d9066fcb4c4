import { formatBase64Url } from "../../../lib/base64.ts";

/**
 * Whether a text is a code challenge of the method S256: the SHA-256 of the verifier in base64url.
 */
export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** Whether a verifier is the one from which a challenge was made. @see RFC 7636 section 4.6 */
export async function isVerifierOf(challenge: string, verifier: string): Promise<boolean> {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return formatBase64Url(new Uint8Array(digest)) === challenge;
}
