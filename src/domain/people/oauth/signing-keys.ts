import type { JWK } from "jose";

import type { Config } from "../../../config.ts";

/** The only algorithm of ID tokens: the one that every client of OpenID Connect knows. */
export const SIGNING_ALGORITHM = "RS256";

interface ImportedKey {
  /** The thumbprint of the public key (RFC 7638). */
  readonly id: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Keys by their text, since importing one takes longer than signing with it. */
const imported = new Map<string, Promise<ImportedKey>>();

/** The key that signs ID tokens, the first of the configuration; undefined if it has none. */
export async function findSigningKey({
  oauthSigningKeys: [first],
}: Config): Promise<ImportedKey | undefined> {
  return first === undefined ? undefined : importKey(first);
}

/**
 * The public halves of all keys: clients check tokens with them that an earlier key signed, too.
 */
export async function listPublicKeys({ oauthSigningKeys }: Config): Promise<JWK[]> {
  const keys = await Promise.all(oauthSigningKeys.map(importKey));
  return keys.map(({ publicJwk }) => publicJwk);
}

function importKey(pem: string): Promise<ImportedKey> {
  const known = imported.get(pem);
  if (known) return known;
  const importing = importPem(pem);
  imported.set(pem, importing);
  return importing;
}

async function importPem(pem: string): Promise<ImportedKey> {
  const { calculateJwkThumbprint, exportJWK, importPKCS8 } = await import("jose");
  const privateKey = await importPKCS8(pem, SIGNING_ALGORITHM, { extractable: true });
  const { kty, n, e } = await exportJWK(privateKey);
  // SECURITY: these members alone are public.
  const publicKey = { kty, n, e } as JWK;
  const id = await calculateJwkThumbprint(publicKey);
  return {
    id,
    privateKey,
    publicJwk: { ...publicKey, kid: id, use: "sig", alg: SIGNING_ALGORITHM },
  };
}
