import { formatBase64, parseCanonicalBase64 } from "../../../lib/base64.ts";
import { invalid } from "../../../lib/failure.ts";
import { sshFingerprint } from "./fingerprint.ts";
import { readPemKey } from "./read-pem-key.ts";
import { knownKind, readSshBlob, type SshKeyKind } from "./read-ssh-blob.ts";

export type SshKey = {
  kind: SshKeyKind;
  bits: number;
  /** The key in SSH's binary form, as base64. */
  blob: string;
  /** Empty for a key without a comment. */
  comment: string;
  /** `SHA256:` and base64 without padding, as `ssh-keygen -l` prints it. */
  fingerprint: string;
  /** `type base64[ comment]`: one line, whatever the input format. */
  normalised: string;
};

/** OpenSSH's maximum length of a public key file. */
const TEXT_LENGTH_MAX = 16_384;

/**
 * Parses a public key that a user pasted: OpenSSH's one line, an SSH2 block or PEM.
 *
 * @throws Failure `invalid` with a message for the user: what the text is, if it is not a key, or
 *   why the key is not accepted.
 * @see sshd(8) "AUTHORIZED_KEYS FILE FORMAT", RFC 4716, RFC 7468 section 13
 */
export function parseSshKey(text: string): SshKey {
  if (text.length > TEXT_LENGTH_MAX) {
    throw invalid(`the key is too long: at most ${TEXT_LENGTH_MAX} characters are allowed`);
  }
  refusePrivateKey(text);
  const lines = text.trim().split(/[ \t]*(?:\r\n|\r|\n)/);
  const { label, blob, comment } = parseFormat(lines);

  const { kind, bits } = readSshBlob(blob);
  if (label && label !== kind) throw invalid("the type in front of the key does not match the key");
  refuseUnprintable(comment);
  const base64 = formatBase64(blob);
  return {
    kind,
    bits,
    blob: base64,
    comment,
    fingerprint: sshFingerprint(blob),
    normalised: comment === "" ? `${kind} ${base64}` : `${kind} ${base64} ${comment}`,
  };
}

/** `label` is the key type that OpenSSH's format repeats in front of the blob. */
type Parsed = { label?: SshKeyKind; blob: Buffer; comment: string };

function parseFormat(lines: string[]): Parsed {
  const [first = "", ...others] = lines;
  if (!/^-{4,5} ?BEGIN /.test(first)) {
    if (others.length === 0) return parseOneLine(first);
    if (others.some(containsKey)) throw invalid("there are several keys: add them one at a time");
    throw invalid("an OpenSSH public key is one line, and its comment has no line breaks");
  }
  if (others.some((line) => /^-{4,5} ?BEGIN /.test(line) || containsKey(line))) {
    throw invalid("there are several keys: add them one at a time");
  }
  return first.startsWith("-----") ? parsePem(lines) : parseSsh2(lines);
}

function parseOneLine(line: string): Parsed {
  const [, label = "", base64 = "", comment = ""] =
    /^(\S+)[ \t]+(\S+)(?:[ \t]+(.*))?$/su.exec(line) ?? [];
  if (!/^(ssh|ecdsa|sk)-[^,="]+$/.test(label)) {
    if (containsKey(line)) throw invalid("options before the key are not allowed");
    throw invalid("this is not an SSH public key");
  }
  if (containsKey(comment)) throw invalid("there are several keys: add them one at a time");
  return { label: knownKind(label), blob: decodeBase64(base64), comment };
}

function parseSsh2(lines: string[]): Parsed {
  const [first, ...rest] = lines;
  if (first !== "---- BEGIN SSH2 PUBLIC KEY ----") throw invalid("this is not an SSH public key");
  if (rest.pop() !== "---- END SSH2 PUBLIC KEY ----") throw invalid("the SSH2 block has no end");

  // A header ending in a backslash continues on the next line.
  const unfolded = rest.join("\n").replaceAll("\\\n", "").split("\n");
  const headers = unfolded.filter((line) => line.includes(":"));
  const body = unfolded.filter((line) => !line.includes(":"));
  const comment = headers.find((header) => /^comment:/i.test(header))?.slice("comment:".length);
  return {
    blob: decodeBase64(body.join("")),
    comment: comment?.trim().replace(/^"(.*)"$/s, "$1") ?? "",
  };
}

function parsePem(lines: string[]): Parsed {
  const [first = "", ...rest] = lines;
  const label = /^-----BEGIN ([A-Z\d ]+)-----$/.exec(first)?.[1] ?? "";
  if (rest.pop() !== `-----END ${label}-----`) throw invalid("the PEM block has no end");

  const der = (): Buffer => decodeBase64(rest.join(""));
  switch (label) {
    case "PUBLIC KEY":
      return { blob: Buffer.from(readPemKey(der(), "spki")), comment: "" };
    case "RSA PUBLIC KEY":
      return { blob: Buffer.from(readPemKey(der(), "pkcs1")), comment: "" };
    case "CERTIFICATE":
      throw invalid("this is an X.509 certificate, not a public key");
    case "PGP PUBLIC KEY BLOCK":
      throw invalid("this is a GPG key, not an SSH key");
    default:
      throw invalid("this is not an SSH public key");
  }
}

/**
 * SECURITY: a private key that was pasted by mistake is never stored, wherever it is in the text.
 */
function refusePrivateKey(text: string): void {
  if (/BEGIN [A-Z\d ]{0,32}PRIVATE KEY|PuTTY-User-Key-File|Private-Lines:/.test(text)) {
    throw invalid("this is a private key and must not be uploaded: send its public half");
  }
}

/**
 * SECURITY: the key is stored as one line including its comment; a line break would start another
 * key.
 */
function refuseUnprintable(comment: string): void {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(comment) || !comment.isWellFormed()) {
    throw invalid("the comment of the key must not contain control characters");
  }
}

/** Whether a key in OpenSSH's format starts somewhere in the line. */
function containsKey(line: string): boolean {
  return /(?:^|[\s,])(?:ssh|ecdsa|sk)-[a-z\d@.-]{1,64}[ \t]+AAAA/.test(line);
}

/** Accepts only canonical base64: complete padding, no skipped characters. */
function decodeBase64(text: string): Buffer {
  const bytes = parseCanonicalBase64(text);
  if (!bytes || bytes.length === 0) throw invalid("the key is not valid base64");
  return Buffer.from(bytes);
}
