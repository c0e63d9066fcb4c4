import { createHash } from "node:crypto";

import { formatBase64 } from "../../../lib/base64.ts";

/**
 * The fingerprint of an SSH key: `SHA256:` and base64 without padding, as `ssh-keygen -l` prints
 * it.
 *
 * @param publicKey The key in SSH's binary form.
 */
export function sshFingerprint(publicKey: Uint8Array): string {
  const digest = createHash("sha256").update(publicKey).digest();
  return `SHA256:${formatBase64(digest).replace(/=+$/, "")}`;
}

/** The id of an OpenPGP key in 16 upper-case hex digits. */
export const gpgKeyId = (id: { toHex(): string }): string => normalizeGpgId(id.toHex());

/** Converts a key's id or fingerprint to upper case, the stored form. */
export const normalizeGpgId = (digits: string): string => digits.toUpperCase();
