import { createHash } from "node:crypto";

import { formatBase64, parseCanonicalBase64 } from "../../lib/base64.ts";
import { Failure } from "../../lib/failure.ts";
import { formatSshWire, SshWireReader } from "../keys/ssh-wire.ts";

/** A signature of `ssh-keygen -Y sign`, with the key that it says made it. */
export interface SshSignature {
  /** In SSH's binary form. Nothing is known of it yet. */
  readonly publicKey: Uint8Array;
  /** What was signed is hashed with this first. */
  readonly hashName: string;
  /** Algorithm and value, in SSH's binary form. */
  readonly value: Uint8Array;
}

/** What a signature is about, so that one for a file or a sign-in is none for a commit. */
const NAMESPACE = "git";
const MAGIC = "SSHSIG";
const BEGIN = "-----BEGIN SSH SIGNATURE-----";
const END = "-----END SSH SIGNATURE-----";
/** A signature by the largest RSA key takes 6,000 characters. */
const LENGTH_MAX = 16 * 1024;
/** Characters of a line, as ssh-keygen writes them. */
const LINE_LENGTH = 70;

/**
 * Reads an armored signature over something of git's.
 *
 * @returns Undefined for what is none, and for one over anything else.
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
  // SECURITY: what somebody signed for another purpose must not pass for a commit of theirs.
  const namespace = reader.readName();
  const reserved = reader.readString();
  const hashName = reader.readName();
  const value = reader.readString();
  const isKnown = magic === MAGIC && version === 1 && namespace === NAMESPACE;
  return isKnown && reserved.length === 0 && reader.isAtEnd
    ? { publicKey, hashName, value }
    : undefined;
}

/** The armored form, with a line feed at its end. */
export function formatSshSignature({ publicKey, hashName, value }: SshSignature): string {
  const version = Uint8Array.of(0, 0, 0, 1);
  const fields = formatSshWire([publicKey, NAMESPACE, "", hashName, value]);
  const base64 = formatBase64(Buffer.concat([Buffer.from(MAGIC), version, fields]));
  const lines = base64.match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  return `${[BEGIN, ...lines, END].join("\n")}\n`;
}

/** What a signature over `bytes` really signs. */
export function formatSshMessage(hashName: SshHashName, bytes: Uint8Array): Uint8Array {
  const digest = createHash(hashName).update(bytes).digest();
  return Buffer.concat([Buffer.from(MAGIC), formatSshWire([NAMESPACE, "", hashName, digest])]);
}

const SSH_HASH_NAMES = ["sha256", "sha512"] as const;
export type SshHashName = (typeof SSH_HASH_NAMES)[number];

/** The two hashes that a signature may use; undefined for any other. */
export const knownHashName = (name: string): SshHashName | undefined =>
  SSH_HASH_NAMES.find((known) => known === name);
