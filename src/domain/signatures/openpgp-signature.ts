import {
  config,
  createMessage,
  enums,
  PacketList,
  PublicKeyPacket,
  PublicSubkeyPacket,
  readSignature,
  SignaturePacket,
} from "openpgp";

import { parseBase64 } from "../../lib/base64.ts";
import { gpgKeyId } from "../keys/fingerprint.ts";
import { isTooLarge } from "../keys/read-gpg-key.ts";

/** A detached signature of gpg's. */
export interface OpenPgpSignature {
  /** Of the key that it says made it: 16 upper-case hex digits, zeros where it does not say. */
  readonly keyId: string;
  /** Whether others could have found a second text with the same hash. */
  readonly isHashWeak: boolean;
  readonly packet: SignaturePacket;
}

/** What is known of the key that is to have made a signature. */
export interface OpenPgpKey {
  /** The key packet alone, in base64. */
  readonly publicKey: string;
  readonly canSign: boolean;
  /** Whether it is, or the key that it is a subkey of. */
  readonly isRevoked: boolean;
  /** The end of the key, or of the one it is a subkey of, in milliseconds; null for never. */
  readonly expiresAt: number | null;
}

/** Far more than a signature needs. */
const LENGTH_MAX = 16 * 1024;
const BEGIN = "-----BEGIN PGP SIGNATURE-----";

/**
 * Reads an armored signature.
 *
 * SECURITY: one alone. Of several, one could be good and another be what people are shown.
 *
 * @returns Undefined for what is none, or several, and for one over anything but bytes or text.
 */
export async function parseOpenPgpSignature(
  armoredSignature: string,
): Promise<OpenPgpSignature | undefined> {
  if (armoredSignature.length > LENGTH_MAX) return undefined;
  if (armoredSignature.split(BEGIN).length !== 2) return undefined;
  const read = await readSignature({ armoredSignature }).catch(() => undefined);
  const [packet, ...others] = read?.packets ?? [];
  // What the library knows nothing of is in the list too, as another class.
  if (!(packet instanceof SignaturePacket) || others.length > 0) return undefined;
  const { signatureType, hashAlgorithm, created } = packet;
  const { binary, text } = enums.signature;
  if (signatureType !== binary && signatureType !== text) return undefined;
  if (hashAlgorithm === null || !created) return undefined;
  return {
    keyId: gpgKeyId(packet.issuerKeyID),
    isHashWeak: config.rejectMessageHashAlgorithms.has(hashAlgorithm),
    packet,
  };
}

/**
 * Whether the key made the signature over `bytes`, when it might.
 *
 * The key is judged at the time that the signature names: what was signed before a key expired stays
 * signed. A revoked key counts for nothing, whenever it signed: whoever has it can choose the time.
 * Neither does one that may not sign, or is too weak.
 *
 * @param now Milliseconds since the epoch; a signature that has an end of its own is judged at this time.
 * @throws UnreadableKey for a key that can't be read.
 */
export async function verifyOpenPgpSignature(
  { packet }: OpenPgpSignature,
  key: OpenPgpKey,
  bytes: Uint8Array,
  now: number,
): Promise<boolean> {
  const keyPacket = await readKeyPacket(key);
  const createdAt = packet.created?.getTime() ?? 0;
  if (!key.canSign || key.isRevoked || isUnfit(keyPacket)) return false;
  if (createdAt < keyPacket.created.getTime()) return false;
  if (key.expiresAt !== null && createdAt >= key.expiresAt) return false;
  // SECURITY: a signature over text holds whatever the ends of its lines are, so it may only be one
  // over bytes that leave no choice.
  const type = packet.signatureType as enums.signature;
  if (type === enums.signature.text && bytes.includes(CARRIAGE_RETURN)) return false;
  const { packets } = await createMessage({ binary: bytes });
  const literal = packets.findPacket(enums.packet.literalData);
  if (!literal) throw new Error("a message without its text");
  // A signer's clock may be ahead.
  const judgedAt = new Date(Math.max(now, createdAt));
  return packet.verify(keyPacket, type, literal, judgedAt, true).then(
    () => true,
    () => false, // the library rejects for every reason that makes a signature worth nothing
  );
}

const CARRIAGE_RETURN = 0x0d;

/** A key of an account that is stored, and can't be read. */
export class UnreadableKey extends Error {}

type KeyPacket = PublicKeyPacket | PublicSubkeyPacket;

/** The library's types call this a map; it is read like an object. */
const KEY_PACKETS = {
  [enums.packet.publicKey]: PublicKeyPacket,
  [enums.packet.publicSubkey]: PublicSubkeyPacket,
} as unknown as Parameters<typeof PacketList.fromBinary>[1];

async function readKeyPacket({ publicKey }: OpenPgpKey): Promise<KeyPacket> {
  const bytes = parseBase64(publicKey);
  const [packet] = bytes ? await PacketList.fromBinary(bytes, KEY_PACKETS).catch(() => []) : [];
  if (packet instanceof PublicKeyPacket || packet instanceof PublicSubkeyPacket) return packet;
  throw new UnreadableKey("a stored OpenPGP key can't be read");
}

/** Whether the library would not take a signature by such a key, by its own defaults, or not soon. */
function isUnfit(key: KeyPacket): boolean {
  const { bits, curve } = key.getAlgorithmInfo();
  return (
    config.rejectPublicKeyAlgorithms.has(key.algorithm) ||
    (bits !== undefined && bits < config.minRSABits) ||
    isTooLarge(key) ||
    (curve !== undefined && config.rejectCurves.has(curve as unknown as enums.curve))
  );
}
