import type { ByteText } from "../../git/byte-text.ts";
import { sshFingerprint } from "../keys/fingerprint.ts";
import type { OpenPgpKey, OpenPgpSignature } from "./openpgp-signature.ts";
import { knownHashName, parseSshSignature, type SshSignature } from "./ssh-signature.ts";
import { verifySshSignature } from "./verify-ssh-signature.ts";

/** A signature of either form, with the name of the key that it says made it. */
export type ReadSignature = {
  /** An OpenPGP key's id in 16 upper-case hex digits, an SSH key's fingerprint `SHA256:…`. */
  readonly keyName: string;
  /** Whether others could have found a second text with the same hash. */
  readonly isHashWeak: boolean;
} & (
  | { readonly kind: "openpgp"; readonly signature: OpenPgpSignature }
  | { readonly kind: "ssh"; readonly signature: SshSignature }
);

/** A key that somebody has. Of an SSH key the fingerprint says all. */
export type SignerKey = ({ readonly kind: "openpgp" } & OpenPgpKey) | { readonly kind: "ssh" };

/** Most commits have no such signature, and the library is large. */
const loadOpenPgp = () => import("./openpgp-signature.ts");

const SSH = "-----BEGIN SSH SIGNATURE-----";

/**
 * Reads a signature as it stands in a commit or tag: armored, of OpenPGP or SSH.
 *
 * @returns Undefined for any other, X.509's among them, and for what is damaged.
 */
export async function readSignature(armored: ByteText): Promise<ReadSignature | undefined> {
  if (armored.startsWith(SSH)) {
    const signature = parseSshSignature(armored);
    if (!signature) return undefined;
    const isHashWeak = knownHashName(signature.hashName) === undefined;
    const keyName = sshFingerprint(signature.publicKey);
    return { kind: "ssh", keyName, isHashWeak, signature };
  }
  const { parseOpenPgpSignature } = await loadOpenPgp();
  const signature = await parseOpenPgpSignature(armored);
  if (!signature) return undefined;
  const { keyId, isHashWeak } = signature;
  return { kind: "openpgp", keyName: keyId, isHashWeak, signature };
}

/**
 * Whether `key`, which is called as the signature says, made it over `signed`.
 *
 * @param now Milliseconds since the epoch.
 * @returns `unreadable` for a key that was stored and can't be read.
 */
export async function checkSignature(
  read: ReadSignature,
  key: SignerKey,
  signed: Uint8Array,
  now: number,
): Promise<"good" | "bad" | "unreadable"> {
  if (read.kind === "ssh") {
    const isGood = key.kind === "ssh" && (await verifySshSignature(read.signature, signed));
    return isGood ? "good" : "bad";
  }
  if (key.kind !== "openpgp") return "bad";
  const { UnreadableKey, verifyOpenPgpSignature } = await loadOpenPgp();
  try {
    const isGood = await verifyOpenPgpSignature(read.signature, key, signed, now);
    return isGood ? "good" : "bad";
  } catch (error) {
    if (error instanceof UnreadableKey) return "unreadable";
    throw error;
  }
}
