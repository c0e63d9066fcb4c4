import { createHash } from "node:crypto";

import { formatBase64, parseCanonicalBase64 } from "../../../lib/base64.ts";
import { Failure } from "../../../lib/failure.ts";
import { formatSshWire, SshWireReader } from "../../people/keys/ssh-wire.ts";

/** A signature of `ssh-keygen -Y sign`, with the public key that it contains. */
export interface SshSignature {
  /** The public key in SSH's binary form, not validated. */
  readonly publicKey: Uint8Array;
  /** The algorithm that hashes the signed bytes first. */
  readonly hashName: string;
  /** The signature's algorithm and value, in SSH's binary form. */
  readonly value: Uint8Array;
}

/**
 * The purpose of a signature, so that a signature for a file or a sign-in is not valid for a
 * commit.
 */
const NAMESPACE = "git";
const MAGIC = "SSHSIG";
const BEGIN = "-----BEGIN SSH SIGNATURE-----";
const END = "-----END SSH SIGNATURE-----";
/** A signature by the largest RSA key takes 6,000 characters. */
const LENGTH_MAX = 16 * 1024;
/** Characters per line, as ssh-keygen writes them. */
const LINE_LENGTH = 70;

/**
 * Parses an armored signature with git's namespace.
 *
 * @returns Undefined for a text that is not a signature, and for a signature with another
 *   namespace.
 * @see PROTOCOL.sshsig of OpenSSH
 */
export function parseSshSignature(armored: string): SshSignature | undefined {
  const lines = armored.trimEnd().split(/\r?\n/);
  if (armored.length > LENGTH_MAX || lines.shift() !== BEGIN || lines.pop() !== END) {
    return undefined;
  }
  const blob = parseCanonicalBase64(lines.join(""));
  if (!blob) return undefined;
  try {
    return readSignature(new SshWireReader(blob));
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function readSignature(reader: SshWireReader): SshSignature | undefined {
  const magic = Buffer.from(reader.readBytes(MAGIC.length)).toString("latin1");
  const version = reader.readUint32();
  const publicKey = reader.readString();
  // SECURITY: a signature that was made for another purpose must not be valid for a commit.
  const namespace = reader.readName();
  const reserved = reader.readString();
  const hashName = reader.readName();
  const value = reader.readString();
  const isKnown = magic === MAGIC && version === 1 && namespace === NAMESPACE;
  return isKnown && reserved.length === 0 && reader.isAtEnd
    ? { publicKey, hashName, value }
    : undefined;
}

/** Formats an armored signature with a final line feed. */
export function formatSshSignature({ publicKey, hashName, value }: SshSignature): string {
  const version = Uint8Array.of(0, 0, 0, 1);
  const fields = formatSshWire([publicKey, NAMESPACE, "", hashName, value]);
  const base64 = formatBase64(Buffer.concat([Buffer.from(MAGIC), version, fields]));
  const lines = base64.match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  return `${[BEGIN, ...lines, END].join("\n")}\n`;
}

/** Formats the message that a signature over `bytes` actually signs. */
export function formatSshMessage(hashName: SshHashName, bytes: Uint8Array): Uint8Array {
  const digest = createHash(hashName).update(bytes).digest();
  return Buffer.concat([Buffer.from(MAGIC), formatSshWire([NAMESPACE, "", hashName, digest])]);
}

const SSH_HASH_NAMES = ["sha256", "sha512"] as const;
export type SshHashName = (typeof SSH_HASH_NAMES)[number];

/**
 * Returns `name` if it is one of the two hash algorithms that a signature may use, else undefined.
 */
export const knownHashName = (name: string): SshHashName | undefined =>
  SSH_HASH_NAMES.find((known) => known === name);
