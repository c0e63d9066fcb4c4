import { describe, expect, it } from "vitest";

import { encodeUtf8 } from "../../../../src/git/byte-text.ts";
import { sshFingerprint } from "../../../../src/domain/people/keys/fingerprint.ts";
import { formatNatural, formatSshWire } from "../../../../src/domain/people/keys/ssh-wire.ts";
import {
  formatSshMessage,
  parseSshSignature,
  type SshSignature,
} from "../../../../src/domain/code/signatures/ssh-signature.ts";
import { verifySshSignature } from "../../../../src/domain/code/signatures/verify-ssh-signature.ts";
import { makeSecurityKey } from "../../../support/security-key.ts";
import * as known from "./ssh-fixtures.ts";

const TEXT = encodeUtf8(known.TEXT);
const OTHER = encodeUtf8(`${known.TEXT}\n`);

function parse(armored: string): SshSignature {
  const signature = parseSshSignature(armored);
  if (!signature) throw new Error("the signature can't be read");
  return signature;
}

const blobOf = (line: string): Buffer => Buffer.from(line.split(" ")[1] ?? "", "base64");

/** The fields of a signature's value: an algorithm and its output. */
const valueOf = (algorithm: string, value: Uint8Array) => formatSshWire([algorithm, value]);

const armor = (blob: Uint8Array): string =>
  `-----BEGIN SSH SIGNATURE-----\n${Buffer.from(blob).toString("base64")}\n-----END SSH SIGNATURE-----`;

const envelope = (fields: (string | Uint8Array)[], { magic = "SSHSIG", version = 1 } = {}) =>
  armor(
    Buffer.concat([
      Buffer.from(magic),
      Uint8Array.of(0, 0, 0, version),
      Buffer.from(formatSshWire(fields)),
    ]),
  );

describe("verifySshSignature", () => {
  it.each([
    ["RSA", known.RSA_3072, known.RSA_3072_SHA512],
    ["RSA, hashed with SHA-256", known.RSA_3072, known.RSA_3072_SHA256],
    ["ECDSA on P-256", known.ECDSA_256, known.ECDSA_256_SIGNED],
    ["ECDSA on P-384", known.ECDSA_384, known.ECDSA_384_SIGNED],
    ["ECDSA on P-521", known.ECDSA_521, known.ECDSA_521_SIGNED],
    ["Ed25519", known.ED25519, known.ED25519_SIGNED],
  ])(
    "accepts ssh-keygen's signature over its text, and over no other: %s",
    async (_, line, armored) => {
      const signature = parse(armored);
      expect(Buffer.from(signature.publicKey)).toEqual(blobOf(line));
      expect(await verifySshSignature(signature, TEXT)).toBe(true);
      expect(await verifySshSignature(signature, OTHER)).toBe(false);

      const value = Uint8Array.from(signature.value);
      value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
      expect(await verifySshSignature({ ...signature, value }, TEXT)).toBe(false);
      const longer = Uint8Array.of(...signature.value, 0);
      expect(await verifySshSignature({ ...signature, value: longer }, TEXT)).toBe(false);
      const hashName = signature.hashName === "sha256" ? "sha512" : "sha256";
      expect(await verifySshSignature({ ...signature, hashName }, TEXT)).toBe(false);
      for (const otherKey of [known.ED25519, known.RSA_3072].filter((other) => other !== line)) {
        const theirs = { ...signature, publicKey: blobOf(otherKey) };
        expect(await verifySshSignature(theirs, TEXT)).toBe(false);
      }
    },
  );

  it.each(["sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"] as const)(
    "requires that a security key was touched: %s",
    async (kind) => {
      const key = await makeSecurityKey(kind);
      const touched = parse(await key.sign(TEXT, 0b101));
      expect(await verifySshSignature(touched, TEXT)).toBe(true);
      expect(await verifySshSignature(touched, OTHER)).toBe(false);
      expect(await verifySshSignature(parse(await key.sign(TEXT, 0b100)), TEXT)).toBe(false);
    },
  );

  // The algorithm is not the key type: until 2021 the same keys signed with SHA-1.
  it("refuses RSA with SHA-1", async () => {
    const name = "RSASSA-PKCS1-v1_5";
    const size = { modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) };
    const pair = await crypto.subtle.generateKey({ name, ...size, hash: "SHA-1" }, true, [
      "sign",
      "verify",
    ]);
    const { publicKey, privateKey } = pair;
    const { n = "", e = "" } = await crypto.subtle.exportKey("jwk", publicKey);
    const numbers = [e, n].map((text) => formatNatural(Buffer.from(text, "base64url")));
    const message = new Uint8Array(formatSshMessage("sha512", TEXT));
    const value = new Uint8Array(await crypto.subtle.sign(name, privateKey, message));
    for (const algorithm of ["ssh-rsa", "rsa-sha2-256", "rsa-sha2-512"]) {
      const signature = {
        publicKey: formatSshWire(["ssh-rsa", ...numbers]),
        hashName: "sha512",
        value: valueOf(algorithm, value),
      };
      expect(await verifySshSignature(signature, TEXT)).toBe(false);
    }
  });

  it("is false for keys and values that can't be parsed", async () => {
    const signature = parse(known.ED25519_SIGNED);
    const ec = parse(known.ECDSA_256_SIGNED);
    const point = formatSshWire(["ecdsa-sha2-nistp256", "nistp256", new Uint8Array(65).fill(4)]);
    for (const wrong of [
      { ...signature, publicKey: new Uint8Array() },
      { ...signature, publicKey: formatSshWire(["ssh-ed25519", new Uint8Array(31)]) },
      { ...signature, publicKey: formatSshWire(["ssh-dss", new Uint8Array(32)]) },
      { ...signature, value: new Uint8Array() },
      { ...signature, value: valueOf("ssh-ed25519", new Uint8Array(63)) },
      { ...signature, value: valueOf("ssh-ed25519", new Uint8Array(64)) },
      { ...signature, value: Uint8Array.of(255, 255, 255, 255) },
      { ...signature, hashName: "sha1" },
      { ...ec, publicKey: point },
      { ...ec, value: valueOf("ecdsa-sha2-nistp256", new Uint8Array(64)) },
      { ...ec, value: valueOf("ecdsa-sha2-nistp256", formatSshWire(["", ""])) },
    ]) {
      expect(await verifySshSignature(wrong, TEXT)).toBe(false);
    }
  });
});

describe("parseSshSignature", () => {
  it("names the key as ssh-keygen does", () => {
    // ssh-keygen -lf prints the same fingerprint; accounts' keys are found by it.
    expect(sshFingerprint(blobOf(known.ED25519))).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  });

  const { publicKey, value } = parse(known.ED25519_SIGNED);
  const fields = [publicKey, "git", "", "sha512", value];

  it.each([
    ["with the namespace of files", known.ED25519_SIGNED_FILE],
    ["with an empty namespace", envelope([publicKey, "", "", "sha512", value])],
    ["with a NUL after its namespace", envelope([publicKey, "git\0", "", "sha512", value])],
    ["with a reserved field that is not empty", envelope([publicKey, "git", "x", "sha512", value])],
    ["of another version", envelope(fields, { version: 2 })],
    ["with another magic", envelope(fields, { magic: "SSHSIX" })],
    ["with bytes after it", envelope([...fields, ""])],
    ["with a field missing", envelope(fields.slice(0, -1))],
    ["that is empty", ""],
    ["without an end line", known.ED25519_SIGNED.replace(/-----END.*/, "")],
    ["that is not base64", known.ED25519_SIGNED.replace("U1NI", "U1N*")],
    ["twice", `${known.ED25519_SIGNED}\n${known.ED25519_SIGNED}`],
    ["that is too long", known.ED25519_SIGNED.replace("\n", `\n${"A".repeat(20_000)}\n`)],
  ])("returns undefined for a signature %s", (_, armored) => {
    expect(parseSshSignature(armored)).toBeUndefined();
  });

  it("parses the unchanged base of the table above: each row fails because of its own change", () => {
    expect(parseSshSignature(envelope(fields))).toBeDefined();
  });
});
