import { formatHex } from "../../../lib/hex.ts";

/** Signatures of a content, in hex; empty if there is no secret. */
export interface Signatures {
  readonly sha1: string;
  readonly sha256: string;
}

/** HMACs over exactly these bytes, keyed with the secret in UTF-8. */
export async function signContent(
  secret: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<Signatures> {
  // Web Crypto refuses an empty HMAC key.
  if (secret === "") return { sha1: "", sha256: "" };
  const [sha1, sha256] = await Promise.all([
    sign("SHA-1", secret, content),
    sign("SHA-256", secret, content),
  ]);
  return { sha1, sha256 };
}

async function sign(
  hash: "SHA-1" | "SHA-256",
  secret: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash }, false, ["sign"]);
  return formatHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, content)));
}
