import type { PublicKey } from "openpgp";
import { invalid } from "../../../lib/failure.ts";
import type { ParsedGpgKey } from "./read-gpg-key.ts";

const TEXT_LENGTH_MAX = 512 * 1024;
const KEYS_MAX = 16;
/** Maximum over all keys of a text; a key in use for years has a few dozen. */
const OWN_SIGNATURES_MAX = 256;

/**
 * Parses the public keys in a text: one or more armored blocks, each with one or more keys.
 *
 * Only properties that the key's own signatures certify are used: user ids and subkeys without a
 * valid self-signature are omitted. Expired and revoked keys are parsed like any other. The library
 * is loaded on the first call.
 *
 * @param now Milliseconds since the epoch; signatures are verified at this time.
 * @throws Failure `invalid` with a message for the user that names what the text is instead.
 * @see RFC 9580 sections 5.2.3.29 (flags) and 10.1 (form of a key)
 */
export async function parseGpgKeys(armored: string, now: number): Promise<ParsedGpgKey[]> {
  if (armored.length > TEXT_LENGTH_MAX) {
    throw invalid(`the key is too long: at most ${TEXT_LENGTH_MAX} characters are allowed`);
  }
  const blocks = splitBlocks(armored);
  const [{ readKeys }, { countOwnSignatures, readGpgKey }] = await Promise.all([
    import("openpgp"),
    import("./read-gpg-key.ts"),
  ]);

  const found: PublicKey[] = [];
  for (const armoredKeys of blocks) {
    const keys = await readKeys({ armoredKeys }).catch(() => {
      throw invalid("this is not a valid GPG public key");
    });
    found.push(...keys);
    if (found.length > KEYS_MAX) throw invalid(`there are more than ${KEYS_MAX} keys`);
  }
  // SECURITY: a block with the label of a public key can contain a private key.
  if (found.some((key) => key.isPrivate())) throw privateKey();
  // SECURITY: bounds the number of signature checks that a text can cause.
  const checks = found.map(countOwnSignatures).reduce((sum, count) => sum + count, 0);
  if (checks > OWN_SIGNATURES_MAX) {
    throw invalid(`there are more than ${OWN_SIGNATURES_MAX} signatures to check`);
  }

  const keys: ParsedGpgKey[] = [];
  for (const key of found) keys.push(await readGpgKey(key, now));
  const ids = keys.flatMap((key) => [key, ...key.subkeys]).map(({ keyId }) => keyId);
  if (new Set(ids).size < ids.length) throw invalid("the same key is there more than once");
  return keys;
}

/** Splits a text into its public key blocks, which may have other text around them. */
function splitBlocks(text: string): string[] {
  const blocks = text.split(/^(?=-----BEGIN PGP )/m).filter((part) => part.startsWith("-----"));
  const labels = blocks.map((block) => /^-----BEGIN PGP ([A-Z ]+)-----/.exec(block)?.[1]);
  if (labels.length === 0) throw invalid("there is no armored GPG public key in the text");
  if (labels.includes("PRIVATE KEY BLOCK")) throw privateKey();
  if (labels.includes("SIGNATURE")) throw invalid("this is a GPG signature, not a public key");
  if (labels.some((label) => label !== "PUBLIC KEY BLOCK")) {
    throw invalid("this is a GPG message, not a public key");
  }
  return blocks;
}

const privateKey = () =>
  invalid("this is a private key and must not be uploaded: send its public half");
