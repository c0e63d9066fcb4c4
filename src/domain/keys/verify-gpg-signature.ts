/** Far more than a key or a detached signature needs. */
const KEY_LENGTH_MAX = 512 * 1024;
const SIGNATURE_LENGTH_MAX = 16 * 1024;

/**
 * Whether the key made the detached signature over the text, which proves that its owner is here.
 *
 * The text counts with and without a line break at its end, because `echo` and editors add one.
 * A signature by one of the key's subkeys counts; one that the key made while it was expired,
 * revoked or not allowed to sign does not. The library is loaded on the first call.
 *
 * @returns False also for a key or signature that can't be read.
 */
export async function verifyGpgSignature(
  armoredPublicKey: string,
  armoredDetachedSignature: string,
  text: string,
): Promise<boolean> {
  if (armoredPublicKey.length > KEY_LENGTH_MAX) return false;
  if (armoredDetachedSignature.length > SIGNATURE_LENGTH_MAX) return false;

  const { createMessage, readKey, readSignature, verify } = await import("openpgp");
  const read = Promise.all([
    readKey({ armoredKey: armoredPublicKey }),
    readSignature({ armoredSignature: armoredDetachedSignature }),
  ]);
  const [verificationKeys, signature] = await read.catch(() => []);
  if (!verificationKeys || !signature) return false;

  const bare = text.replace(/\r?\n$/, "");
  for (const candidate of [bare, `${bare}\n`, `${bare}\r\n`]) {
    // Bytes, so that the signature itself says whether line breaks are normalised.
    const message = await createMessage({ binary: new TextEncoder().encode(candidate) });
    // The key is judged at the time the signature names, so a signer's clock may be ahead.
    const { signatures } = await verify({ message, signature, verificationKeys, date: null });
    const isVerified = await Promise.any(signatures.map(({ verified }) => verified)).catch(
      () => false,
    );
    if (isVerified) return true;
  }
  return false;
}
