import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseSshKey } from "../../../../src/domain/people/keys/parse-ssh-key.ts";
import { Failure } from "../../../../src/lib/failure.ts";
import * as known from "./fixtures.ts";
import type { SshFixture } from "./fixtures.ts";

const ACCEPTED: Record<string, SshFixture> = {
  "ssh-rsa of 2048 bits": known.RSA_2048,
  "ssh-rsa of 4096 bits": known.RSA_4096,
  "ssh-ed25519": known.ED25519,
  "ecdsa-sha2-nistp256": known.ECDSA_256,
  "ecdsa-sha2-nistp384": known.ECDSA_384,
  "ecdsa-sha2-nistp521": known.ECDSA_521,
  "sk-ssh-ed25519": known.SK_ED25519,
  "sk-ecdsa-sha2-nistp256": known.SK_ECDSA,
};

describe("parseSshKey", () => {
  it.each(Object.entries(ACCEPTED))("parses %s like ssh-keygen", (_, { line, printed }) => {
    const key = parseSshKey(`${line}\n`);

    const [kind = "", blob = "", ...comment] = line.split(" ");
    expect(key).toMatchObject({ kind, blob, comment: comment.join(" "), normalised: line });
    const shown = key.comment === "" ? "no comment" : key.comment;
    expect(printed).toContain(`${key.bits} ${key.fingerprint} ${shown} (`);
  });

  it.each([
    ["an SSH2 block of RSA", known.RSA_2048_SSH2, known.RSA_2048],
    ["an SSH2 block of Ed25519", known.ED25519_SSH2, known.ED25519],
    ["PKCS#1", known.RSA_2048_PKCS1, known.RSA_2048],
    ["PKCS#8 of RSA", known.RSA_2048_SPKI, known.RSA_2048],
    ["PKCS#8 of P-256", known.ECDSA_256_SPKI, known.ECDSA_256],
    ["PKCS#8 of P-384", known.ECDSA_384_SPKI, known.ECDSA_384],
    ["PKCS#8 of P-521", known.ECDSA_521_SPKI, known.ECDSA_521],
  ])("finds the same key in %s", (_, text, { line }) => {
    for (const written of [text, text.replaceAll("\n", "\r\n"), `\n${text}\n`]) {
      expect(parseSshKey(written).fingerprint).toBe(parseSshKey(line).fingerprint);
    }
  });

  // Half of all 32-byte strings are refused as points: a real key must never be refused.
  it("accepts every generated Ed25519 key, as one line and as PEM", () => {
    for (let round = 0; round < 100; round++) {
      const { publicKey } = generateKeyPairSync("ed25519");
      const point = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
      const line = oneLine("ssh-ed25519", wire("ssh-ed25519", point));
      const spki = publicKey.export({ type: "spki", format: "der" }).toString("base64");

      expect(parseSshKey(line).normalised).toBe(line);
      expect(parseSshKey(pem("PUBLIC KEY", spki)).normalised).toBe(line);
    }
  });

  it("keeps the comment of an SSH2 block, also a folded one", () => {
    expect(parseSshKey(known.ED25519_SSH2).comment).toBe(
      "256-bit ED25519, converted by ada@example.org from OpenSSH",
    );
    const folded = known.ED25519_SSH2.replace("256-bit ", "256-bit \\\n").replace(
      "Comment",
      "x-made-by: hand\ncomment",
    );
    expect(parseSshKey(folded)).toEqual(parseSshKey(known.ED25519_SSH2));
  });

  it("normalises the spaces between the parts and nothing else", () => {
    const [kind = "", blob = ""] = known.ED25519.line.split(" ");
    expect(parseSshKey(`  ${kind}\t ${blob}   Ada  Lovelace 🔑 \n`).normalised).toBe(
      `${kind} ${blob} Ada  Lovelace 🔑`,
    );
    expect(parseSshKey(`${kind} ${blob} `).normalised).toBe(`${kind} ${blob}`);
  });

  it("accepts RSA from 2048 to 16384 bits", () => {
    for (const bits of [2048, 3071, 16_384]) {
      expect(parseSshKey(rsa(65_537, bits)).bits).toBe(bits);
    }
  });

  it.each(refusals())("refuses %s", (_, text, message) => {
    expect(() => parseSshKey(text)).toThrow(new Failure("invalid", message));
  });

  it("refuses every damaged key, without another error", () => {
    const { line } = known.ECDSA_256;
    const blob = Buffer.from(line.split(" ")[1] ?? "", "base64");
    for (let at = 0; at < blob.length; at++) {
      const bent = Buffer.from(blob);
      bent[at] = (bent[at] ?? 0) ^ 0x81;
      for (const damaged of [bent, blob.subarray(0, at)]) {
        expect(() => parseSshKey(oneLine("ecdsa-sha2-nistp256", damaged))).toThrow(Failure);
      }
    }
  });
});

function refusals(): [what: string, text: string, message: string][] {
  const { line } = known.ED25519;
  const [kind = "", blob = ""] = line.split(" ");
  const point = Buffer.from(blob, "base64").subarray(-32);
  const p256 = Buffer.from(known.ECDSA_256.line.split(" ")[1] ?? "", "base64").subarray(-65);
  const ecdsa = (of: Uint8Array, curve = "nistp256"): string =>
    oneLine("ecdsa-sha2-nistp256", wire("ecdsa-sha2-nistp256", curve, of));
  const ed25519 = (of: Uint8Array): string => oneLine(kind, wire(kind, of));
  const compressed = Buffer.concat([Uint8Array.of(2), p256.subarray(1, 33)]);
  const offCurve = Buffer.from(p256);
  offCurve[64] = (offCurve[64] ?? 0) ^ 1;
  const tail = Buffer.from(known.RSA_2048_SPKI.split("\n").slice(1, -2).join(""), "base64");

  const several = "there are several keys: add them one at a time";
  const notAKey = "this is not an SSH public key";
  const privateKey = "this is a private key and must not be uploaded: send its public half";
  const oneLineOnly = "an OpenSSH public key is one line, and its comment has no line breaks";
  const controls = "the comment of the key must not contain control characters";
  const wrongLength = "the point of the key has the wrong length";
  const notOnCurve = "the point of the key is not on its curve";
  const leftOver = "there is data left over after the key";
  const noBase64 = "the key is not valid base64";
  const options = "options before the key are not allowed";
  const endsEarly = "the key data ends early";
  const noMatch = "the type in front of the key does not match the key";
  const exponent = "the RSA exponent must be an odd number of at least 3";
  const zeros = "the key holds a number with needless leading zeros";
  const tooLong = "the key is too long: at most 16384 characters are allowed";
  const unknownPem = "the PEM block holds no public key of a known type";
  return [
    ["an empty text", "", notAKey],
    ["a word", "hello", notAKey],
    ["a sentence", "hello there, Ada", notAKey],
    ["a type alone", kind, notAKey],
    ["a blob alone", blob, notAKey],
    ["a text that is too long", `${line}${"x".repeat(16_384)}`, tooLong],
    ["DSA", known.DSA.line, "key type is not allowed: dsa"],
    ["DSA in PEM", known.DSA_SPKI, "key type is not allowed: dsa"],
    ["a type of the future", "ssh-mldsa65 AAAA", "key type is not allowed: ssh-mldsa65"],
    [
      "P-224",
      oneLine("ecdsa-sha2-nistp224", wire("x")),
      "key type is not allowed: ecdsa-sha2-nistp224",
    ],
    ["a certificate", known.CERTIFICATE.line, "this is an SSH certificate, not a public key"],
    [
      "a certificate in an SSH2 block",
      ssh2(known.CERTIFICATE.line.split(" ")[1] ?? ""),
      "this is an SSH certificate, not a public key",
    ],
    ["RSA of 1024 bits", known.RSA_1024.line, "key length is not enough: got 1024, needs 2048"],
    ["RSA of 2047 bits", rsa(65_537, 2047), "key length is not enough: got 2047, needs 2048"],
    [
      "RSA of 16385 bits",
      rsa(65_537, 16_385),
      "key length is too much: got 16385, at most 16384 is allowed",
    ],
    ["an RSA exponent of zero", rsa(0, 2048), exponent],
    ["an RSA exponent of one", rsa(1, 2048), exponent],
    ["an even RSA exponent", rsa(65_536, 2048), exponent],
    ["an RSA exponent of 33 bits", rsa(2 ** 32 + 1, 2048), "the RSA exponent is too large"],
    ["an even RSA modulus", rsa(65_537, 2048, 0xfe), "the RSA modulus must be odd"],
    [
      "a negative RSA modulus",
      oneLine("ssh-rsa", wire("ssh-rsa", Uint8Array.of(3), Buffer.alloc(256, 0xff))),
      "the key holds a negative number",
    ],
    // The same key with padding would have a different fingerprint, and could be registered twice.
    [
      "an RSA exponent with needless zeros",
      oneLine("ssh-rsa", wire("ssh-rsa", Uint8Array.of(0, 3), Buffer.alloc(256, 0x7f))),
      zeros,
    ],
    [
      "zero that is not spelled as nothing",
      oneLine("ssh-rsa", wire("ssh-rsa", Uint8Array.of(0), Buffer.alloc(256, 0x7f))),
      zeros,
    ],
    ["an Ed25519 point that is too short", ed25519(point.subarray(1)), wrongLength],
    ["an Ed25519 point that is too long", ed25519(Buffer.concat([point, point])), wrongLength],
    ["an Ed25519 point off the curve", ed25519(littleEndian(2n)), notOnCurve],
    ["the neutral point of Ed25519", ed25519(littleEndian(1n)), notOnCurve],
    ["an Ed25519 point outside the field", ed25519(littleEndian(2n ** 255n - 16n)), notOnCurve],
    ["an ECDSA point that is too short", ecdsa(p256.subarray(0, 64)), wrongLength],
    ["a compressed ECDSA point", ecdsa(compressed), wrongLength],
    ["an ECDSA point off the curve", ecdsa(offCurve), notOnCurve],
    [
      "the point of another curve",
      ecdsa(p256, "nistp384"),
      "the curve of the key does not match its type",
    ],
    [
      "a security key without an application",
      oneLine("sk-ssh-ed25519@openssh.com", wire("sk-ssh-ed25519@openssh.com", point, "")),
      "the security key names no application",
    ],
    [
      "a security key that ends before its application",
      oneLine("sk-ssh-ed25519@openssh.com", wire("sk-ssh-ed25519@openssh.com", point)),
      endsEarly,
    ],
    ["a label of another type", known.RSA_2048.line.replace("ssh-rsa", kind), noMatch],
    ["a plain label on a security key", `${kind} ${known.SK_ED25519.line.split(" ")[1]}`, noMatch],
    ["bytes after the key", oneLine(kind, wire(kind, point, "")), leftOver],
    [
      "bytes after a PEM key",
      pem("PUBLIC KEY", Buffer.concat([tail, tail]).toString("base64")),
      leftOver,
    ],
    ["a claim of four gigabytes", oneLine(kind, Buffer.alloc(8, 0xff)), endsEarly],
    ["base64 without its padding", known.ECDSA_256.line.replace("= ec", " ec"), noBase64],
    ["base64 with something in it", `${kind} ${blob.slice(0, 20)}!${blob.slice(20)}`, noBase64],
    ["options", `no-pty,command="rm -rf /" ${line}`, options],
    ["an option that looks like a type", `ssh-x="1",cert-authority ${line}`, options],
    ["two lines", `${line}\n${known.ECDSA_256.line}`, several],
    ["two keys run together", `${line} ${known.ECDSA_256.line}`, several],
    ["two SSH2 blocks", `${known.ED25519_SSH2}${known.RSA_2048_SSH2}`, several],
    ["two PEM blocks", `${known.RSA_2048_SPKI}${known.RSA_2048_PKCS1}`, several],
    ["a line after an SSH2 block", `${known.ED25519_SSH2}${line}`, several],
    ["a line break in the comment", `${line}\nroot`, oneLineOnly],
    ["a carriage return in the comment", `${line}\rroot`, oneLineOnly],
    ["a NUL in the comment", `${line}\0root`, controls],
    ["an escape sequence in the comment", `${line} \u001B[2J.`, controls],
    ["a tab in the comment", `${line} a\tb`, controls],
    ["a line separator in the comment", `${line}\u2028root`, controls],
    ["half a character in the comment", `${line}\uD800`, controls],
    [
      "a control character in an SSH2 comment",
      known.ED25519_SSH2.replace("bit", "\u0007"),
      controls,
    ],
    ["an OpenSSH private key", pem("OPENSSH PRIVATE KEY", "b3BlbnNzaA=="), privateKey],
    ["a PKCS#1 private key", pem("RSA PRIVATE KEY", "MIIE"), privateKey],
    ["a PKCS#8 private key", pem("PRIVATE KEY", "MIIE"), privateKey],
    ["an encrypted private key", pem("ENCRYPTED PRIVATE KEY", "MIIE"), privateKey],
    ["an SSH2 private key", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nP2/56wAA", privateKey],
    ["a PuTTY private key", "PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 2", privateKey],
    ["a private key after a public one", `${line}\n${pem("PRIVATE KEY", "MIIE")}`, privateKey],
    ["an SSH2 block without an end", known.ED25519_SSH2.slice(0, -20), "the SSH2 block has no end"],
    ["a PEM block without an end", known.RSA_2048_SPKI.slice(0, -20), "the PEM block has no end"],
    ["an empty PEM block", pem("PUBLIC KEY", ""), noBase64],
    ["a PEM block of something else", pem("PUBLIC KEY", "AAAA"), unknownPem],
    [
      "a key of another PEM type",
      known.RSA_2048_SPKI.replaceAll("PUBLIC", "RSA PUBLIC"),
      unknownPem,
    ],
    ["X25519", known.X25519_SPKI, "key type is not allowed: X25519"],
    [
      "an X.509 certificate",
      pem("CERTIFICATE", "MIIE"),
      "this is an X.509 certificate, not a public key",
    ],
    ["a GPG key", known.ADA.armored, "this is a GPG key, not an SSH key"],
    ["a PEM block of an unknown label", pem("EC PUBLIC KEY", "MIIE"), notAKey],
  ];
}

// Node and workerd import different key types, so the messages for these differ between them.
it.each([
  ["secp256k1", known.SECP256K1_SPKI],
  ["RSA-PSS", known.RSA_PSS_SPKI],
])("refuses PEM of a type that SSH does not have: %s", (_, text) => {
  expect(() => parseSshKey(text)).toThrow(Failure);
});

function wire(...fields: (string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.from(field).length);
      return [length, Buffer.from(field)];
    }),
  );
}

function oneLine(kind: string, blob: Uint8Array): string {
  return `${kind} ${Buffer.from(blob).toString("base64")}`;
}

/** A key of an exact length, for which no private key exists. */
function rsa(exponent: number, bits: number, lastByte = 0xff): string {
  const modulus = 2n ** BigInt(bits) - 1n - BigInt(0xff - lastByte);
  return oneLine("ssh-rsa", wire("ssh-rsa", natural(BigInt(exponent)), natural(modulus)));
}

function natural(number: bigint): Uint8Array {
  const hex = number === 0n ? "" : number.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return (bytes[0] ?? 0) > 127 ? Buffer.concat([Uint8Array.of(0), bytes]) : bytes;
}

function littleEndian(number: bigint): Uint8Array {
  return Buffer.from(number.toString(16).padStart(64, "0"), "hex").toReversed();
}

function pem(label: string, body: string): string {
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}

function ssh2(body: string): string {
  return `---- BEGIN SSH2 PUBLIC KEY ----\n${body}\n---- END SSH2 PUBLIC KEY ----\n`;
}
