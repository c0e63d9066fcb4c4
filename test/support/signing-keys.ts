import { createHash } from "node:crypto";

import { generateKey } from "openpgp";

import { formatNatural, formatSshWire } from "../../src/domain/people/keys/ssh-wire.ts";

/** An armored OpenPGP key for the service; with `hasSubkey`, a subkey signs. */
export async function makeOpenPgpSigningKey({
  hasSubkey = false,
  passphrase = "",
}: { hasSubkey?: boolean; passphrase?: string } = {}) {
  const { privateKey, publicKey } = await generateKey({
    userIDs: [{ name: "Forge", email: "forge@example.com" }],
    subkeys: hasSubkey ? [{ sign: true }] : [],
    ...(passphrase && { passphrase }),
    date: new Date(Date.now() - 60_000),
    format: "object",
  });
  const signer = hasSubkey ? publicKey.subkeys[0] : publicKey;
  return {
    armored: privateKey.armor(),
    publicArmored: publicKey.armor(),
    keyId: signer?.getKeyID().toHex().toUpperCase() ?? "",
  };
}

const KINDS = {
  "ssh-ed25519": { name: "Ed25519" },
  "ecdsa-sha2-nistp256": { name: "ECDSA", namedCurve: "P-256" },
  "ecdsa-sha2-nistp384": { name: "ECDSA", namedCurve: "P-384" },
  "ecdsa-sha2-nistp521": { name: "ECDSA", namedCurve: "P-521" },
  "ssh-rsa": {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
    hash: "SHA-512",
  },
} as const;
export const SSH_KINDS = Object.keys(KINDS) as (keyof typeof KINDS)[];

/** A private key in OpenSSH's format, as `ssh-keygen -N ''` writes it. */
export async function makeSshSigningKey(kind: keyof typeof KINDS = "ssh-ed25519") {
  const pair = await crypto.subtle.generateKey(KINDS[kind], true, ["sign", "verify"]);
  if (!("publicKey" in pair)) throw new Error("one key where there should be two");
  const jwk = (await crypto.subtle.exportKey("jwk", pair.privateKey)) as Record<string, string>;
  const field = (name: string) => Buffer.from(jwk[name] ?? "", "base64url");
  const natural = (name: string) => formatNatural(field(name));
  const point = Buffer.concat([Uint8Array.of(4), field("x"), field("y")]);
  const curve = kind.replace("ecdsa-sha2-", "");
  const [publicFields, secretFields] = {
    OKP: [[field("x")], [field("x"), Buffer.concat([field("d"), field("x")])]],
    EC: [
      [curve, point],
      [curve, point, natural("d")],
    ],
    RSA: [[natural("e"), natural("n")], ["n", "e", "d", "qi", "p", "q"].map(natural)],
  }[jwk["kty"] as "OKP" | "EC" | "RSA"] as [(string | Uint8Array)[], (string | Uint8Array)[]];
  const publicKey = formatSshWire([kind, ...publicFields]);
  const body = Buffer.concat([
    Buffer.from([1, 2, 3, 4, 1, 2, 3, 4]),
    formatSshWire([kind, ...secretFields, "made@example.org"]),
    Uint8Array.of(1, 2, 3),
  ]);
  const keyFile = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    formatSshWire(["none", "none", ""]),
    Uint8Array.of(0, 0, 0, 1),
    formatSshWire([publicKey, body]),
  ]);
  const lines = keyFile.toString("base64").match(/.{1,70}/g) ?? [];
  const digest = createHash("sha256").update(publicKey).digest("base64").replace(/=+$/, "");
  return {
    armored: [
      "-----BEGIN OPENSSH PRIVATE KEY-----",
      ...lines,
      "-----END OPENSSH PRIVATE KEY-----",
      "",
    ].join("\n"),
    line: `${kind} ${Buffer.from(publicKey).toString("base64")}\n`,
    fingerprint: `SHA256:${digest}`,
  };
}
