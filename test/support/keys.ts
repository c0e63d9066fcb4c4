import { Buffer } from "node:buffer";
import { createHash, generateKeyPairSync } from "node:crypto";

import { createMessage, generateKey, sign, type PrivateKey } from "openpgp";

/** A new SSH key: tests share one database, in which a key is there once. */
export function makeSshKey(comment = "made@example.org"): { line: string; fingerprint: string } {
  const { publicKey } = generateKeyPairSync("ed25519");
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const blob = Buffer.concat([field(Buffer.from("ssh-ed25519")), field(point)]);
  const digest = createHash("sha256").update(blob).digest("base64").replace(/=+$/, "");
  return {
    line: `ssh-ed25519 ${blob.toString("base64")} ${comment}`,
    fingerprint: `SHA256:${digest}`,
  };
}

function field(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A new OpenPGP key for an address, with its private half. */
export interface TestGpgKey {
  armored: string;
  keyId: string;
  privateKey: PrivateKey;
}

/** @param lifetimeSeconds How long the key is valid; for ever where it is missing. */
export async function makeGpgKey(email: string, lifetimeSeconds = 0): Promise<TestGpgKey> {
  const { privateKey, publicKey } = await generateKey({
    userIDs: [{ name: "Test Person", email }],
    keyExpirationTime: lifetimeSeconds,
    format: "object",
  });
  const keyId = publicKey.getKeyID().toHex().toUpperCase();
  return { armored: publicKey.armor(), keyId, privateKey };
}

/** What `echo <text> | gpg --armor --detach-sign` prints. */
export async function signText({ privateKey }: TestGpgKey, text: string): Promise<string> {
  const message = await createMessage({ binary: new TextEncoder().encode(`${text}\n`) });
  return sign({ message, signingKeys: privateKey, detached: true, format: "armored" });
}
