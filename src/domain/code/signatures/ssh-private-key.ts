import { formatBase64Url, parseBase64 } from "../../../lib/base64.ts";
import { Failure } from "../../../lib/failure.ts";
import { formatNatural, formatSshWire, SshWireReader } from "../../people/keys/ssh-wire.ts";
import { formatSshMessage, formatSshSignature } from "./ssh-signature.ts";

/** A private key that signs for git like `ssh-keygen -Y sign`. */
export interface SshPrivateKey {
  readonly kind: string;
  /** The public key in SSH's binary form. */
  readonly publicKey: Uint8Array;
  /** Returns the armored signature over `bytes`. */
  readonly sign: (bytes: Uint8Array) => Promise<string>;
}

/** How a key type signs. */
interface Method {
  readonly jwk: JsonWebKey;
  readonly algorithm: { name: string; hash?: string; namedCurve?: string };
  /** The algorithm's name in signatures. */
  readonly name: string;
  /** Converts the signature value of Web Crypto to SSH's encoding. */
  format(value: Uint8Array): Uint8Array;
}

const BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END = "-----END OPENSSH PRIVATE KEY-----";
const MAGIC = "openssh-key-v1\0";

/**
 * Opens a private key in OpenSSH's format.
 *
 * @throws Error for a key that has a passphrase, is not RSA, ECDSA or Ed25519, or can't be read.
 * The message contains nothing of the key.
 * @see PROTOCOL.key of OpenSSH
 */
export async function openSshPrivateKey(armored: string): Promise<SshPrivateKey> {
  let read: { publicKey: Uint8Array; kind: string; method: Method };
  try {
    read = readPrivateKey(armored);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Error("the OpenSSH private key can't be read", { cause: error });
  }
  const { publicKey, kind, method } = read;
  const { jwk, algorithm } = method;
  const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["sign"]);
  return {
    kind,
    publicKey,
    sign: async (bytes) => {
      const message = new Uint8Array(formatSshMessage("sha512", bytes));
      const value = new Uint8Array(await crypto.subtle.sign(algorithm, key, message));
      return formatSshSignature({
        publicKey,
        hashName: "sha512",
        value: formatSshWire([method.name, method.format(value)]),
      });
    },
  };
}

function readPrivateKey(armored: string) {
  const base64 = armored.replace(BEGIN, "").replace(END, "").replaceAll(/\s/g, "");
  const bytes = parseBase64(base64);
  if (!bytes) throw new Error("the OpenSSH private key is not valid base64");
  const reader = new SshWireReader(bytes);
  const magic = Buffer.from(reader.readBytes(MAGIC.length)).toString("latin1");
  const [cipher, derivation] = [reader.readName(), reader.readName()];
  reader.readString(); // options of the key derivation
  if (magic !== MAGIC) throw new Error("it is no OpenSSH private key");
  if (cipher !== "none" || derivation !== "none") {
    throw new Error("the OpenSSH private key must have no passphrase");
  }
  if (reader.readUint32() !== 1) throw new Error("there must be one OpenSSH private key");
  const publicKey = reader.readString();
  const secret = new SshWireReader(reader.readString());
  secret.readBytes(8); // two equal check numbers, which would differ after decryption with a wrong passphrase
  const kind = secret.readName();
  return { publicKey, kind, method: readMethod(kind, secret) };
}

function readMethod(kind: string, secret: SshWireReader): Method {
  switch (kind) {
    case "ssh-ed25519":
      return readEd25519(secret);
    case "ecdsa-sha2-nistp256":
      return readEcdsa(kind, secret, { crv: "P-256", fieldBytes: 32, hash: "SHA-256" });
    case "ecdsa-sha2-nistp384":
      return readEcdsa(kind, secret, { crv: "P-384", fieldBytes: 48, hash: "SHA-384" });
    case "ecdsa-sha2-nistp521":
      return readEcdsa(kind, secret, { crv: "P-521", fieldBytes: 66, hash: "SHA-512" });
    case "ssh-rsa":
      return readRsa(secret);
    default:
      throw new Error("the OpenSSH private key must be of RSA, ECDSA or Ed25519");
  }
}

function readEd25519(secret: SshWireReader): Method {
  const x = secret.readString();
  const d = secret.readString().subarray(0, 32); // followed by the public key once more
  return {
    jwk: { kty: "OKP", crv: "Ed25519", x: formatBase64Url(x), d: formatBase64Url(d) },
    algorithm: { name: "Ed25519" },
    name: "ssh-ed25519",
    format: (value) => value,
  };
}

function readEcdsa(
  kind: string,
  secret: SshWireReader,
  { crv, fieldBytes, hash }: { crv: string; fieldBytes: number; hash: string },
): Method {
  secret.readName(); // the curve, which the key type names too
  const point = secret.readString();
  const d = Buffer.alloc(fieldBytes);
  const natural = secret.readNatural();
  d.set(natural, fieldBytes - natural.length);
  return {
    jwk: {
      kty: "EC",
      crv,
      x: formatBase64Url(point.subarray(1, 1 + fieldBytes)),
      y: formatBase64Url(point.subarray(1 + fieldBytes)),
      d: formatBase64Url(d),
    },
    algorithm: { name: "ECDSA", namedCurve: crv, hash },
    name: kind,
    format: (value) => {
      const halves = [value.subarray(0, fieldBytes), value.subarray(fieldBytes)];
      return formatSshWire(halves.map(formatNatural));
    },
  };
}

function readRsa(secret: SshWireReader): Method {
  const n = secret.readNatural();
  const e = secret.readNatural();
  const d = secret.readNatural();
  const qi = secret.readNatural();
  const p = secret.readNatural();
  const q = secret.readNatural();
  const remainder = (prime: Uint8Array): Uint8Array => {
    const hex = (toNumber(d) % (toNumber(prime) - 1n)).toString(16);
    return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  };
  const numbers = { n, e, d, p, q, dp: remainder(p), dq: remainder(q), qi };
  const fields = Object.entries(numbers).map(([name, bytes]) => [name, formatBase64Url(bytes)]);
  return {
    jwk: { kty: "RSA", ...Object.fromEntries(fields) },
    algorithm: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" },
    name: "rsa-sha2-512",
    format: (value) => value,
  };
}

const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
