import type { SealingKey } from "../config.ts";
import { formatBase64, parseBase64 } from "../lib/base64.ts";
import { forbidden } from "../lib/failure.ts";

const NONCE_BYTES = 12;
/** The first part of a sealed text: how it is made. */
const FORM = "1";

/** What all that a key has sealed begins with. */
export const sealedBy = ({ name }: SealingKey): string => `${FORM}.${name}.`;

/**
 * Seals a secret that must be read back: `1.<name of the key>.<base64 of nonce and ciphertext>`.
 *
 * @param purpose What it is for. It opens for that alone: moved to another column it is worth nothing.
 * @throws Failure `forbidden` where the service has no key.
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

/** What a sealed text holds, or why nobody can tell. */
export type Unsealed =
  | { readonly kind: "open"; readonly text: string }
  /** The configuration has no key of this name any more. */
  | { readonly kind: "key_missing"; readonly keyName: string }
  /** The key of that name is another one, or the text was changed or belongs elsewhere. */
  | { readonly kind: "damaged" };

/** Opens what `seal` made for the same purpose. */
export async function unseal(
  keys: readonly SealingKey[],
  sealed: string,
  purpose: string,
): Promise<Unsealed> {
  const [form, name = "", base64 = "", ...rest] = sealed.split(".");
  const bytes = parseBase64(base64);
  if (form !== FORM || rest.length > 0 || !bytes || bytes.length < NONCE_BYTES) {
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
    // The only thing that Web Crypto says of a tag that does not fit.
    if (error instanceof DOMException && error.name === "OperationError") {
      return { kind: "damaged" };
    }
    throw error;
  }
}

const algorithm = (nonce: Uint8Array<ArrayBuffer>, keyName: string, purpose: string) => ({
  name: "AES-GCM",
  iv: nonce,
  additionalData: new TextEncoder().encode(`${FORM}.${keyName}.${purpose}`),
});

const importKey = ({ bytes }: SealingKey): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
