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

import { parseBase64 } from "../../../lib/base64.ts";
import { gpgKeyId } from "../../people/keys/fingerprint.ts";
import { isTooLarge } from "../../people/keys/read-gpg-key.ts";

/** A detached OpenPGP signature. */
export interface OpenPgpSignature {
  /**
   * The id of the issuing key according to the signature: 16 upper-case hex digits, zeros if it
   * names none.
   */
  readonly keyId: string;
  /** Whether the hash algorithm is too weak to rule out a second text with the same hash. */
  readonly isHashWeak: boolean;
  readonly packet: SignaturePacket;
}

/** The stored properties of the key that a signature names. */
export interface OpenPgpKey {
  /** The key packet alone, in base64. */
  readonly publicKey: string;
  readonly canSign: boolean;
  /** Whether the key or its primary key is revoked. */
  readonly isRevoked: boolean;
  /**
   * The expiry of the key or of its primary key, whichever is earlier, in milliseconds; null for
   * never.
   */
  readonly expiresAt: number | null;
}

/** Maximum length of an armored signature in characters, far more than a signature needs. */
const LENGTH_MAX = 16 * 1024;
const BEGIN = "-----BEGIN PGP SIGNATURE-----";

/**
 * Parses an armored signature.
 *
 * SECURITY: exactly one signature is accepted. With several, one could verify while another is
 * displayed.
 *
 * @returns Undefined for a text that is not a single signature, and for a signature over anything
 * but bytes or text.
 */
export async function parseOpenPgpSignature(
  armoredSignature: string,
): Promise<OpenPgpSignature | undefined> {
  if (armoredSignature.length > LENGTH_MAX) return undefined;
  if (armoredSignature.split(BEGIN).length !== 2) return undefined;
  const read = await readSignature({ armoredSignature }).catch(() => undefined);
  const [packet, ...others] = read?.packets ?? [];
  // Packets unknown to the library are in the list too, as instances of another class.
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
 * Whether the key made the signature over `bytes` at a time when it was valid.
 *
 * The key is checked at the signature's own time: signatures from before the key expired stay
 * valid. Signatures of a revoked key are never valid, because its holder can choose the signature's
 * time. Signatures of a key that may not sign, or that is too weak, are not valid either.
 *
 * @param now Milliseconds since the epoch; a signature with an expiry is checked at this time.
 * @throws UnreadableKey for a stored key that can't be parsed.
 */
export async function verifyOpenPgpSignature(
  { packet }: OpenPgpSignature,
  key: OpenPgpKey,
  bytes: Uint8Array,
  now: number,
): Promise<boolean> {
  const keyPacket = await readKeyPacket(key);
  const createdAt = packet.created?.getTime() ?? 0;
  if (!key.canSign || key.isRevoked || isUnusable(keyPacket)) return false;
  if (createdAt < keyPacket.created.getTime()) return false;
  if (key.expiresAt !== null && createdAt >= key.expiresAt) return false;
  // SECURITY: a text signature is valid for any kind of line endings, so it is accepted only for
  // bytes without carriage returns, where the content is unambiguous.
  const type = packet.signatureType as enums.signature;
  if (type === enums.signature.text && bytes.includes(CARRIAGE_RETURN)) return false;
  const { packets } = await createMessage({ binary: bytes });
  const literal = packets.findPacket(enums.packet.literalData);
  if (!literal) throw new Error("a message without its text");
  // The signer's clock may be ahead.
  const verifiedAt = new Date(Math.max(now, createdAt));
  return packet.verify(keyPacket, type, literal, verifiedAt, true).then(
    () => true,
    () => false, // the library rejects the promise for every kind of invalid signature
  );
}

const CARRIAGE_RETURN = 0x0d;

/** A stored key of an account that can't be parsed. */
export class UnreadableKey extends Error {}

type KeyPacket = PublicKeyPacket | PublicSubkeyPacket;

/** The library's types declare a map here, but the library reads it as an object. */
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

/**
 * Whether the library refuses signatures by the key under its defaults, or takes too long to verify
 * them.
 */
function isUnusable(key: KeyPacket): boolean {
  const { bits, curve } = key.getAlgorithmInfo();
  return (
    config.rejectPublicKeyAlgorithms.has(key.algorithm) ||
    (bits !== undefined && bits < config.minRSABits) ||
    isTooLarge(key) ||
    (curve !== undefined && config.rejectCurves.has(curve as unknown as enums.curve))
  );
}
