import { createMessage, readPrivateKey, sign } from "openpgp";

import { readGpgKey } from "../../people/keys/read-gpg-key.ts";
import type { OpenPgpKey } from "./openpgp-signature.ts";

/** A private key that signs like `gpg --detach-sign`. */
export interface OpenPgpPrivateKey {
  /** The public key, armored. */
  readonly armored: string;
  /** The key and its subkeys by key id, in 16 upper-case hex digits. */
  readonly keys: ReadonlyMap<string, OpenPgpKey>;
  /** Returns the armored signature over `bytes`, dated `at`. */
  readonly sign: (bytes: Uint8Array, at: Date) => Promise<string>;
}

/**
 * Opens an armored private key.
 *
 * @param now Milliseconds since the epoch; the key's own signatures are verified at this time.
 * @throws Error for a key that has a passphrase or can't be read. The message contains nothing of
 *   the key.
 */
export async function openOpenPgpPrivateKey(
  armoredKey: string,
  now: number,
): Promise<OpenPgpPrivateKey> {
  const privateKey = await readPrivateKey({ armoredKey }).catch(() => {
    throw new Error("the OpenPGP private key can't be read");
  });
  if (!privateKey.isDecrypted()) throw new Error("the OpenPGP private key must have no passphrase");
  const { armored, ...key } = await readGpgKey(privateKey.toPublic(), now);
  const ends = (one: number | null): number | null =>
    one === null || key.expiresAt === null ? (one ?? key.expiresAt) : Math.min(one, key.expiresAt);
  const keys = [key, ...key.subkeys].map((each): [string, OpenPgpKey] => [
    each.keyId,
    {
      publicKey: each.publicKeyBase64,
      canSign: each.canSign,
      isRevoked: each.isRevoked || key.isRevoked,
      expiresAt: ends(each.expiresAt),
    },
  ]);
  return {
    armored,
    keys: new Map(keys),
    sign: async (bytes, date) => {
      const message = await createMessage({ binary: bytes });
      return sign({ message, signingKeys: privateKey, detached: true, format: "armored", date });
    },
  };
}
