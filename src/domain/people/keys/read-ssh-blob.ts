import { createPublicKey } from "node:crypto";
import { formatBase64Url } from "../../../lib/base64.ts";
import { invalid } from "../../../lib/failure.ts";
import { isEd25519Point } from "./ed25519-point.ts";
import { SshWireReader } from "./ssh-wire.ts";

const SSH_KEY_KINDS = [
  "ssh-rsa",
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "sk-ssh-ed25519@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
] as const;
export type SshKeyKind = (typeof SSH_KEY_KINDS)[number];

const RSA_BITS_MIN = 2048;
/** OpenSSH refuses larger keys, so nobody could use one. */
const RSA_BITS_MAX = 16_384;
/**
 * Keys in use have 65537. BoringSSL, which verifies signatures in workerd, refuses larger
 * exponents.
 */
const RSA_EXPONENT_BITS_MAX = 32;

type Curve = { crv: string; fieldBytes: number; bits: number };
const CURVES = {
  nistp256: { crv: "P-256", fieldBytes: 32, bits: 256 },
  nistp384: { crv: "P-384", fieldBytes: 48, bits: 384 },
  nistp521: { crv: "P-521", fieldBytes: 66, bits: 521 },
} as const satisfies Record<string, Curve>;

/**
 * Reads and validates the binary form of a public key.
 *
 * @throws Failure `invalid` for a type that is not accepted, a length out of bounds, a point off
 *   its curve, and data that is missing or left over.
 * @see RFC 4253 section 6.6, RFC 5656 section 3.1, RFC 8709 section 4, PROTOCOL.u2f of OpenSSH
 */
export function readSshBlob(blob: Uint8Array): { kind: SshKeyKind; bits: number } {
  const reader = new SshWireReader(blob);
  const kind = knownKind(reader.readName());
  const bits = readMaterial(kind, reader);
  if (!reader.isAtEnd) throw invalid("there is data left over after the key");
  return { kind, bits };
}

/**
 * @throws Failure `invalid` for a type that is not accepted; the message names the types that SSH
 *   knows.
 */
export function knownKind(name: string): SshKeyKind {
  const kind = SSH_KEY_KINDS.find((known) => known === name);
  if (kind) return kind;
  if (/-cert-v\d\d@openssh\.com$/.test(name)) {
    throw invalid("this is an SSH certificate, not a public key");
  }
  if (name === "ssh-dss") throw invalid("key type is not allowed: dsa");
  if (/^[a-z\d][a-z\d@.-]{0,63}$/.test(name)) throw invalid(`key type is not allowed: ${name}`);
  throw invalid("this is not an SSH public key");
}

function readMaterial(kind: SshKeyKind, reader: SshWireReader): number {
  switch (kind) {
    case "ssh-rsa":
      return readRsa(reader);
    case "ssh-ed25519":
      return readEd25519(reader);
    case "ecdsa-sha2-nistp256":
      return readEcdsa(reader, "nistp256");
    case "ecdsa-sha2-nistp384":
      return readEcdsa(reader, "nistp384");
    case "ecdsa-sha2-nistp521":
      return readEcdsa(reader, "nistp521");
    case "sk-ssh-ed25519@openssh.com": {
      const bits = readEd25519(reader);
      readApplication(reader);
      return bits;
    }
    case "sk-ecdsa-sha2-nistp256@openssh.com": {
      const bits = readEcdsa(reader, "nistp256");
      readApplication(reader);
      return bits;
    }
    default:
      throw kind satisfies never;
  }
}

/** node:crypto imports any two numbers as an RSA key, so the bounds are checked here. */
function readRsa(reader: SshWireReader): number {
  const exponent = reader.readNatural();
  const modulus = reader.readNatural();
  if (!isOdd(exponent) || bitLength(exponent) < 2) {
    throw invalid("the RSA exponent must be an odd number of at least 3");
  }
  if (bitLength(exponent) > RSA_EXPONENT_BITS_MAX) throw invalid("the RSA exponent is too large");

  const bits = bitLength(modulus);
  if (bits < RSA_BITS_MIN) {
    throw invalid(`key length is not enough: got ${bits}, needs ${RSA_BITS_MIN}`);
  }
  if (bits > RSA_BITS_MAX) {
    throw invalid(`key length is too much: got ${bits}, at most ${RSA_BITS_MAX} is allowed`);
  }
  if (!isOdd(modulus)) throw invalid("the RSA modulus must be odd");
  return bits;
}

function readEd25519(reader: SshWireReader): number {
  const point = reader.readString();
  if (point.length !== 32) throw invalid("the point of the key has the wrong length");
  if (!isEd25519Point(point)) throw invalid("the point of the key is not on its curve");
  return 256;
}

function readEcdsa(reader: SshWireReader, name: keyof typeof CURVES): number {
  if (reader.readName() !== name) throw invalid("the curve of the key does not match its type");

  const { crv, fieldBytes, bits } = CURVES[name];
  const point = Buffer.from(reader.readString());
  if (point.length !== 1 + 2 * fieldBytes || point[0] !== 4) {
    throw invalid("the point of the key has the wrong length");
  }
  const x = formatBase64Url(point.subarray(1, 1 + fieldBytes));
  const y = formatBase64Url(point.subarray(1 + fieldBytes));
  try {
    createPublicKey({ format: "jwk", key: { kty: "EC", crv, x, y } });
  } catch {
    throw invalid("the point of the key is not on its curve");
  }
  return bits;
}

/**
 * Reads the application for which a security key created the key pair, "ssh:" unless its owner
 * chose another.
 */
function readApplication(reader: SshWireReader): void {
  if (reader.readString().length === 0) throw invalid("the security key names no application");
}

function isOdd(number: Uint8Array): boolean {
  return ((number.at(-1) ?? 0) & 1) === 1;
}

function bitLength(number: Uint8Array): number {
  return number.length === 0 ? 0 : number.length * 8 - (Math.clz32(number[0] ?? 0) - 24);
}
