import { createHash } from "node:crypto";

import { formatBase64Url } from "../../../lib/base64.ts";
import { Failure } from "../../../lib/failure.ts";
import { knownKind, type SshKeyKind } from "../../people/keys/read-ssh-blob.ts";
import { SshWireReader } from "../../people/keys/ssh-wire.ts";
import { formatSshMessage, knownHashName, type SshSignature } from "./ssh-signature.ts";

/** The inputs of Web Crypto for verifying a signature. */
interface Check {
  readonly key: JsonWebKey;
  readonly algorithm: { name: string; hash?: string; namedCurve?: string };
  readonly value: Uint8Array;
  readonly message: Uint8Array;
}

/** The flag that a user touched the security key. */
const USER_PRESENT = 1;

/**
 * Whether the public key in a signature made the signature over `bytes`.
 *
 * The key is not trusted by this: the caller looks it up among the keys of an account, which were
 * validated when they were added. A security key must have been touched. RSA with SHA-1 is refused.
 *
 * @returns False also for a key or value that can't be parsed.
 * @see PROTOCOL.sshsig and PROTOCOL.u2f of OpenSSH, RFC 8332, RFC 5656 section 3.1.2, RFC 8709
 *   section 6
 */
export async function verifySshSignature(
  signature: SshSignature,
  bytes: Uint8Array,
): Promise<boolean> {
  const hashName = knownHashName(signature.hashName);
  if (!hashName) return false;
  let check: Check | undefined;
  try {
    check = makeCheck(signature, formatSshMessage(hashName, bytes));
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
  if (!check) return false;
  const { key, algorithm } = check;
  const [value, message] = [new Uint8Array(check.value), new Uint8Array(check.message)];
  try {
    const imported = await crypto.subtle.importKey("jwk", key, algorithm, false, ["verify"]);
    return await crypto.subtle.verify(algorithm, imported, value, message);
  } catch (error) {
    // A point off its curve, or a value of the wrong length; Node returns false for the latter.
    if (error instanceof DOMException) return false;
    throw error;
  }
}

function makeCheck({ publicKey, value }: SshSignature, message: Uint8Array): Check | undefined {
  const key = new SshWireReader(publicKey);
  const signature = new SshWireReader(value);
  const kind = knownKind(key.readName());
  const algorithm = signature.readName();
  const check = checkOf(kind, algorithm, key, signature, message);
  return key.isAtEnd && signature.isAtEnd ? check : undefined;
}

function checkOf(
  kind: SshKeyKind,
  algorithm: string,
  key: SshWireReader,
  signature: SshWireReader,
  message: Uint8Array,
): Check | undefined {
  if (kind === "ssh-rsa") return rsaCheck(algorithm, key, signature, message);
  if (algorithm !== kind) return undefined;
  switch (kind) {
    case "ssh-ed25519":
      return { ...ed25519Check(key, signature), message };
    case "ecdsa-sha2-nistp256":
      return { ...ecdsaCheck(key, signature, CURVES.nistp256), message };
    case "ecdsa-sha2-nistp384":
      return { ...ecdsaCheck(key, signature, CURVES.nistp384), message };
    case "ecdsa-sha2-nistp521":
      return { ...ecdsaCheck(key, signature, CURVES.nistp521), message };
    case "sk-ssh-ed25519@openssh.com": {
      const check = ed25519Check(key, signature);
      return securityKeyCheck(check, key, signature, message);
    }
    case "sk-ecdsa-sha2-nistp256@openssh.com": {
      const check = ecdsaCheck(key, signature, CURVES.nistp256);
      return securityKeyCheck(check, key, signature, message);
    }
    default:
      throw kind satisfies never;
  }
}

const RSA_HASHES = new Map([
  ["rsa-sha2-256", "SHA-256"],
  ["rsa-sha2-512", "SHA-512"],
]);

function rsaCheck(
  algorithm: string,
  key: SshWireReader,
  signature: SshWireReader,
  message: Uint8Array,
): Check | undefined {
  const [e, n] = [key.readNatural(), key.readNatural()];
  const hash = RSA_HASHES.get(algorithm);
  if (!hash) return undefined;
  return {
    key: { kty: "RSA", e: formatBase64Url(e), n: formatBase64Url(n) },
    algorithm: { name: "RSASSA-PKCS1-v1_5", hash },
    // OpenSSH also accepts a value without leading zeros.
    value: padded(signature.readString(), n.length),
    message,
  };
}

type BareCheck = Omit<Check, "message">;

function ed25519Check(key: SshWireReader, signature: SshWireReader): BareCheck {
  return {
    key: { kty: "OKP", crv: "Ed25519", x: formatBase64Url(key.readString()) },
    algorithm: { name: "Ed25519" },
    value: signature.readString(),
  };
}

const CURVES = {
  nistp256: { crv: "P-256", fieldBytes: 32, hash: "SHA-256" },
  nistp384: { crv: "P-384", fieldBytes: 48, hash: "SHA-384" },
  nistp521: { crv: "P-521", fieldBytes: 66, hash: "SHA-512" },
} as const;

function ecdsaCheck(
  key: SshWireReader,
  signature: SshWireReader,
  { crv, fieldBytes, hash }: (typeof CURVES)[keyof typeof CURVES],
): BareCheck {
  key.readName(); // the curve, which the key type names too
  const point = key.readString();
  const numbers = new SshWireReader(signature.readString());
  const [r, s] = [numbers.readNatural(), numbers.readNatural()];
  return {
    key: {
      kty: "EC",
      crv,
      x: formatBase64Url(point.subarray(1, 1 + fieldBytes)),
      y: formatBase64Url(point.subarray(1 + fieldBytes)),
    },
    algorithm: { name: "ECDSA", namedCurve: crv, hash },
    value: Buffer.concat([padded(r, fieldBytes), padded(s, fieldBytes)]),
  };
}

/**
 * The check for a security key, which signs the application, its flags and counter, and the
 * message.
 */
function securityKeyCheck(
  check: BareCheck,
  key: SshWireReader,
  signature: SshWireReader,
  message: Uint8Array,
): Check | undefined {
  const application = key.readString();
  const flagsAndCounter = signature.readBytes(5); // flags, and a counter of four bytes
  // SECURITY: without a touch, any program on the owner's machine could have requested the
  // signature.
  if (((flagsAndCounter[0] ?? 0) & USER_PRESENT) === 0) return undefined;
  return {
    ...check,
    message: Buffer.concat([sha256(application), flagsAndCounter, sha256(message)]),
  };
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

/**
 * Pads with leading zeros to `length`; longer values are returned unchanged and fail verification.
 */
function padded(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length >= length) return bytes;
  return Buffer.concat([new Uint8Array(length - bytes.length), bytes]);
}
