import { Buffer } from "node:buffer";
import { createHash, generateKeyPairSync, sign } from "node:crypto";

import {
  config,
  createMessage,
  enums,
  generateKey,
  sign as signMessage,
  Signature,
  SignaturePacket,
  PacketList,
  type PrivateKey,
  type Subkey,
} from "openpgp";

/** A new SSH key for each test: tests share one database, in which keys are unique. */
export function makeSshKey(comment = "made@example.org") {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const blob = Buffer.concat([field("ssh-ed25519"), field(point)]);
  const digest = createHash("sha256").update(blob).digest("base64").replace(/=+$/, "");
  return {
    line: `ssh-ed25519 ${blob.toString("base64")} ${comment}`,
    fingerprint: `SHA256:${digest}`,

    /** Signs like `ssh-keygen -Y sign`. */
    sign: (bytes: Uint8Array, { namespace = "git", hashName = "sha512" } = {}): Promise<string> => {
      const hash = createHash("sha512").update(bytes).digest();
      const purpose = [field(namespace), field(""), field(hashName)];
      const magic = Buffer.from("SSHSIG");
      const message = Buffer.concat([magic, ...purpose, field(hash)]);
      const value = field(
        Buffer.concat([field("ssh-ed25519"), field(sign(null, message, privateKey))]),
      );
      const version = Uint8Array.of(0, 0, 0, 1);
      const base64 = Buffer.concat([magic, version, field(blob), ...purpose, value]);
      const lines = base64.toString("base64").match(/.{1,70}/g) ?? [];
      return Promise.resolve(
        ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n"),
      );
    },
  };
}

function field(content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
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

/**
 * Creation time of keys and time of signatures: in the past, so that a key may have expired since.
 */
const MADE_AT = new Date("2023-11-01T00:00:00Z");
const SIGNED_AT = new Date("2023-11-20T00:00:00Z");

/** @param lifetimeSeconds How long the key is valid; 0 for ever. */
export async function makeGpgKey(
  email: string,
  lifetimeSeconds = 0,
  options: { date?: Date; subkeys?: { sign: boolean }[] } = {},
): Promise<TestGpgKey> {
  const { privateKey, publicKey } = await generateKey({
    userIDs: [{ name: "Test Person", email }],
    keyExpirationTime: lifetimeSeconds,
    format: "object",
    ...options,
  });
  const keyId = publicKey.getKeyID().toHex().toUpperCase();
  return { armored: publicKey.armor(), keyId, privateKey };
}

/** A key that was created at `MADE_AT`. */
export const makeOldGpgKey = (
  email: string,
  { lifetimeSeconds = 0, subkeys = [] as { sign: boolean }[] } = {},
) => makeGpgKey(email, lifetimeSeconds, { date: MADE_AT, subkeys });

/** The output of `echo <text> | gpg --armor --detach-sign`. */
export async function signText({ privateKey }: TestGpgKey, text: string): Promise<string> {
  const message = await createMessage({ binary: new TextEncoder().encode(`${text}\n`) });
  return signMessage({ message, signingKeys: privateKey, detached: true, format: "armored" });
}

/**
 * A signature packet by a key, without the library's checks.
 *
 * @param options.subkey Index of the subkey that signs; the primary key signs if it is missing.
 */
export async function signWith(
  { privateKey }: TestGpgKey,
  bytes: Uint8Array,
  {
    at = SIGNED_AT,
    type = enums.signature.binary,
    subkey = undefined as number | undefined,
    lifetimeSeconds = undefined as number | undefined,
  } = {},
): Promise<SignaturePacket> {
  const { keyPacket } = subkey === undefined ? privateKey : (privateKey.subkeys[subkey] as Subkey);
  const packet = new SignaturePacket();
  packet.signatureType = type;
  packet.publicKeyAlgorithm = keyPacket.algorithm;
  packet.hashAlgorithm = enums.hash.sha256;
  if (lifetimeSeconds !== undefined) {
    packet.signatureExpirationTime = lifetimeSeconds;
    packet.signatureNeverExpires = false;
  }
  const message = await createMessage({ binary: bytes });
  const literal = message.packets.findPacket(enums.packet.literalData);
  // The library's `sign` needs its configuration as an argument, which its types omit.
  const signPacket = packet.sign.bind(packet) as (...args: unknown[]) => Promise<void>;
  await signPacket(keyPacket, literal, at, true, config);
  return packet;
}

/** Signature packets armored as gpg prints them. */
export function armorSignatures(...packets: SignaturePacket[]): string {
  const list = new PacketList<SignaturePacket>();
  list.push(...packets);
  return new Signature(list).armor();
}

/** The output of `gpg --armor --detach-sign` for bytes. */
export const signBytes = async (key: TestGpgKey, bytes: Uint8Array): Promise<string> =>
  armorSignatures(await signWith(key, bytes));
