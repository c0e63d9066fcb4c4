import type { SealingKey } from "../config.ts";
import { formatBase64, parseBase64 } from "../lib/base64.ts";
import { forbidden } from "../lib/failure.ts";

const NONCE_BYTES = 12;
/** The first part of a sealed text: the version of its format. */
const FORMAT = "1";

/** The prefix of every text that a key sealed. */
export const sealedBy = ({ name }: SealingKey): string => `${FORMAT}.${name}.`;

/**
 * Encrypts a secret that must be read back: `1.<name of the key>.<base64 of nonce and ciphertext>`.
 *
 * @param purpose What the secret is for. It is authenticated data: a sealed text that is moved to
 * another column can't be unsealed there.
 * @throws Failure `forbidden` where the service has no sealing key.
 */
export async function seal(
  keys: readonly SealingKey[],
  text: string,
  purpose: string,
): Promise<string> {
  const [key] = keys;
  if (!key) throw forbidden("secrets can't be stored here: the service has no key to seal them");
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt(
    algorithm(nonce, key.name, purpose),
    await importKey(key),
    new TextEncoder().encode(text),
  );
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(sealed), NONCE_BYTES);
  return sealedBy(key) + formatBase64(bytes);
}

/** The plain text of a sealed text, or why it can't be decrypted. */
export type Unsealed =
  | { readonly kind: "open"; readonly text: string }
  /** The configuration no longer has a key of this name. */
  | { readonly kind: "key_missing"; readonly keyName: string }
  /** The key of that name has changed, or the text was altered or sealed for another purpose. */
  | { readonly kind: "damaged" };

/** Decrypts a text that `seal` produced for the same purpose. */
export async function unseal(
  keys: readonly SealingKey[],
  sealed: string,
  purpose: string,
): Promise<Unsealed> {
  const [format, name = "", base64 = "", ...rest] = sealed.split(".");
  const bytes = parseBase64(base64);
  if (format !== FORMAT || rest.length > 0 || !bytes || bytes.length < NONCE_BYTES) {
    return { kind: "damaged" };
  }
  const key = keys.find((each) => each.name === name);
  if (!key) return { kind: "key_missing", keyName: name };
  const copy = new Uint8Array(bytes);
  try {
    const opened = await crypto.subtle.decrypt(
      algorithm(copy.subarray(0, NONCE_BYTES), name, purpose),
      await importKey(key),
      copy.subarray(NONCE_BYTES),
    );
    return { kind: "open", text: new TextDecoder().decode(opened) };
  } catch (error) {
    // Web Crypto reports a failed authentication tag only by this error.
    if (error instanceof DOMException && error.name === "OperationError") {
      return { kind: "damaged" };
    }
    throw error;
  }
}

const algorithm = (nonce: Uint8Array<ArrayBuffer>, keyName: string, purpose: string) => ({
  name: "AES-GCM",
  iv: nonce,
  additionalData: new TextEncoder().encode(`${FORMAT}.${keyName}.${purpose}`),
});

/** Imported keys by those of the configuration, which never change. */
const importedKeys = new WeakMap<SealingKey, Promise<CryptoKey>>();

function importKey(key: SealingKey): Promise<CryptoKey> {
  let imported = importedKeys.get(key);
  if (!imported) {
    imported = crypto.subtle.importKey("raw", key.bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
    importedKeys.set(key, imported);
  }
  return imported;
}
