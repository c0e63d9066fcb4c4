import { createHash } from "node:crypto";

import { formatBase64 } from "../../lib/base64.ts";

/**
 * What an SSH key is known by: `SHA256:` and base64 without padding, as `ssh-keygen -l` prints it.
 *
 * @param publicKey In SSH's binary form.
 */
export function sshFingerprint(publicKey: Uint8Array): string {
  const digest = createHash("sha256").update(publicKey).digest();
  return `SHA256:${formatBase64(digest).replace(/=+$/, "")}`;
}

/** What an OpenPGP key is known by: its id in 16 upper-case hex digits. */
export const gpgKeyId = (id: { toHex(): string }): string => normalizeGpgId(id.toHex());

/** A key's id or fingerprint as it is stored, whatever the case it was written in. */
export const normalizeGpgId = (digits: string): string => digits.toUpperCase();
