/** Far more than a key or a detached signature needs. */
const KEY_LENGTH_MAX = 512 * 1024;
const SIGNATURE_LENGTH_MAX = 16 * 1024;

/**
 * Whether the key made the detached signature over the text, which proves possession of the private
 * key.
 *
 * The text is accepted with and without a final line break, because `echo` and editors add one.
 * Signatures by the key's subkeys are valid; signatures from a time when the key was expired,
 * revoked or not allowed to sign are not. The library is loaded on the first call.
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
    // As bytes, so that the signature's type decides whether line breaks are normalised.
    const message = await createMessage({ binary: new TextEncoder().encode(candidate) });
    // The key is checked at the signature's own time, so the signer's clock may be ahead.
    const { signatures } = await verify({ message, signature, verificationKeys, date: null });
    const isVerified = await Promise.any(signatures.map(({ verified }) => verified)).catch(
      () => false,
    );
    if (isVerified) return true;
  }
  return false;
}
