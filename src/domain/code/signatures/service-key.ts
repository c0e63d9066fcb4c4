import type { Signing } from "../../../config.ts";
import { formatBase64 } from "../../../lib/base64.ts";
import { sshFingerprint } from "../../people/keys/fingerprint.ts";
import type { SignerKey } from "./read-signature.ts";
import { openSshPrivateKey } from "./ssh-private-key.ts";

/** The key with which the service signs the commits and tags that it creates. */
export interface ServiceKey {
  readonly kind: "openpgp" | "ssh";
  /** The public key for users to import: an armored block, or one line in OpenSSH's format. */
  readonly publicText: string;
  /** The public key and its subkeys by the key names that signatures contain. */
  readonly keys: ReadonlyMap<string, SignerKey>;
  /** Returns the armored signature over `bytes`. */
  readonly sign: (bytes: Uint8Array, now: number) => Promise<string>;
}

/** A cache for the lifetime of the isolate: opening a key takes time. */
const opened = new WeakMap<Signing, ServiceKey>();

/**
 * Opens the service's key.
 *
 * @throws Error for a key that can't be used although its format passed: an error in the
 *   configuration.
 */
export async function openServiceKey(signing: Signing, now: number): Promise<ServiceKey> {
  const known = opened.get(signing);
  if (known) return known;
  try {
    const key = await (signing.format === "ssh" ? openSsh(signing) : openOpenPgp(signing, now));
    opened.set(signing, key);
    return key;
  } catch (error) {
    throw new Error("wrong configuration: SIGNING_KEY can't be used", { cause: error });
  }
}

async function openSsh({ key }: Signing): Promise<ServiceKey> {
  const { kind, publicKey, sign } = await openSshPrivateKey(key);
  return {
    kind: "ssh",
    publicText: `${kind} ${formatBase64(publicKey)}\n`,
    keys: new Map([[sshFingerprint(publicKey), { kind: "ssh" }]]),
    sign,
  };
}

async function openOpenPgp({ key }: Signing, now: number): Promise<ServiceKey> {
  const { openOpenPgpPrivateKey } = await import("./openpgp-private-key.ts");
  const { armored, keys, sign } = await openOpenPgpPrivateKey(key, now);
  const signers = [...keys].map(([keyId, each]): [string, SignerKey] => [
    keyId,
    { kind: "openpgp", ...each },
  ]);
  return {
    kind: "openpgp",
    publicText: armored,
    keys: new Map(signers),
    sign: (bytes, at) => sign(bytes, new Date(at)),
  };
}
