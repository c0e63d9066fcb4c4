import type { ByteText } from "../../../git/byte-text.ts";
import { sshFingerprint } from "../../people/keys/fingerprint.ts";
import type { OpenPgpKey, OpenPgpSignature } from "./openpgp-signature.ts";
import { knownHashName, parseSshSignature, type SshSignature } from "./ssh-signature.ts";
import { verifySshSignature } from "./verify-ssh-signature.ts";

/** A parsed signature of either format, with the name of its alleged key. */
export type ReadSignature = {
  /** An OpenPGP key's id in 16 upper-case hex digits, an SSH key's fingerprint `SHA256:…`. */
  readonly keyName: string;
  /** Whether the hash algorithm is too weak to rule out a second text with the same hash. */
  readonly isHashWeak: boolean;
} & (
  | { readonly kind: "openpgp"; readonly signature: OpenPgpSignature }
  | { readonly kind: "ssh"; readonly signature: SshSignature }
);

/** A key of an account. An SSH key is fully identified by its fingerprint. */
export type SignerKey = ({ readonly kind: "openpgp" } & OpenPgpKey) | { readonly kind: "ssh" };

/** Loaded on first use: most commits have no OpenPGP signature, and the library is large. */
const loadOpenPgp = () => import("./openpgp-signature.ts");

const SSH = "-----BEGIN SSH SIGNATURE-----";

/**
 * Parses the armored OpenPGP or SSH signature of a commit or tag.
 *
 * @returns Undefined for a signature of any other format, such as X.509, and for a damaged one.
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
 * Checks whether `key`, found by the signature's key name, made the signature over `signed`.
 *
 * @param now Milliseconds since the epoch.
 * @returns `unreadable` for a stored key that can't be parsed.
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
