import { enums, PacketList } from "openpgp";
import type { PublicKey, SignaturePacket, Subkey, User } from "openpgp";
import { formatBase64 } from "../../lib/base64.ts";
import { invalid } from "../../lib/failure.ts";
import { gpgKeyId, normalizeGpgId } from "./fingerprint.ts";

export type GpgSubkey = {
  /** The short name of the key: 16 upper-case hex digits. */
  keyId: string;
  /** Upper-case hex: 40 digits, 64 for a version 6 key. */
  fingerprint: string;
  /** The key packet alone, with its header, as base64. */
  publicKeyBase64: string;
  /** Empty for a subkey: user ids belong to the primary key. */
  emails: string[];
  canSign: boolean;
  canCertify: boolean;
  canEncryptComms: boolean;
  canEncryptStorage: boolean;
  /** In milliseconds since the epoch, as is `expiresAt`. */
  createdAt: number;
  /** Null when the key never expires. */
  expiresAt: number | null;
  isRevoked: boolean;
};

export type ParsedGpgKey = GpgSubkey & {
  /** The key with its user ids, subkeys and signatures, in one clean armored block. */
  armored: string;
  subkeys: GpgSubkey[];
};

type KeyPacket = PublicKey["keyPacket"] | Subkey["keyPacket"];

/** A key made a moment ago on a computer whose clock is ahead is valid already. */
const CLOCK_SKEW_MS = 60 * 60 * 1000;

/**
 * Reads off a key what its own valid signatures say, judged at `now`.
 *
 * Costs up to one signature check for each of `countOwnSignatures`.
 *
 * @throws Failure `invalid` when no valid signature of the key speaks for it.
 */
export async function readGpgKey(key: PublicKey, now: number): Promise<ParsedGpgKey> {
  const at = new Date(now + CLOCK_SKEW_MS);
  const { keyPacket } = key;
  if ([key, ...key.subkeys].some((each) => isTooLarge(each.keyPacket))) {
    throw invalid("the key is too large");
  }
  const data = { key: keyPacket };

  const direct = directSignatures(key);
  const directSignature = await newestValid(direct, keyPacket, enums.signature.key, data, at);
  const identities = await listIdentities(key, at);
  const certifications = identities.map((identity) => identity.certification);
  const [certification] = newestFirst(certifications);
  const spoken = [directSignature, certification].filter((found) => found !== undefined);
  if (spoken.length === 0) throw invalid("the key has no valid user id of its own");

  // What the direct-key signature says stands above the user ids: it is about the key as a whole.
  const usage = spoken.find((signature) => signature.keyFlags);
  const lifetime = spoken.find((signature) => signature.keyNeverExpires !== null);
  const { keyRevocation } = enums.signature;
  const revocation = await newestValid(
    key.revocationSignatures,
    keyPacket,
    keyRevocation,
    data,
    at,
  );

  const subkeys: GpgSubkey[] = [];
  for (const subkey of key.subkeys) {
    const found = await readSubkey(key, subkey, at);
    if (found) subkeys.push(found);
  }
  const emails = identities.map(({ user }) => user.userID?.email?.toLowerCase() ?? "");
  return {
    ...describe(key, usage, lifetime),
    emails: [...new Set(emails)].filter((email) => email !== ""),
    isRevoked: revocation !== undefined,
    armored: key.armor(),
    subkeys,
  };
}

/** The user ids that the key vouches for, and its word on each. */
async function listIdentities(
  key: PublicKey,
  at: Date,
): Promise<{ user: User; certification: SignaturePacket }[]> {
  const { keyPacket } = key;
  const { certGeneric, certRevocation } = enums.signature;
  const identities = [];
  for (const user of key.users) {
    const { userID, userAttribute, selfCertifications, revocationSignatures } = user;
    const data = { key: keyPacket, userID, userAttribute };
    const certification = await newestValid(selfCertifications, keyPacket, certGeneric, data, at);
    const revocation = await newestValid(revocationSignatures, keyPacket, certRevocation, data, at);
    // Unlike a key, a user id can come back: the newer word counts.
    const isRevoked = certification && revocation && madeAt(revocation) >= madeAt(certification);
    if (certification && !isRevoked) identities.push({ user, certification });
  }
  return identities;
}

/** Undefined when the primary key never bound it. */
async function readSubkey(
  key: PublicKey,
  subkey: Subkey,
  at: Date,
): Promise<GpgSubkey | undefined> {
  const { keyPacket } = key;
  const { bindingSignatures, revocationSignatures } = subkey;
  const { subkeyBinding, subkeyRevocation, keyBinding } = enums.signature;
  const data = { key: keyPacket, bind: subkey.keyPacket };
  const binding = await newestValid(bindingSignatures, keyPacket, subkeyBinding, data, at);
  if (!binding) return undefined;
  const revocation = await newestValid(revocationSignatures, keyPacket, subkeyRevocation, data, at);

  // SECURITY: a subkey that signs must agree to belong here. Without that, anyone could bind
  // somebody else's subkey to a key of their own and pass for the signer.
  const { embeddedSignature } = binding;
  const consents = embeddedSignature?.signatureType === keyBinding ? [embeddedSignature] : [];
  const consent = await newestValid(consents, subkey.keyPacket, keyBinding, data, at);

  const described = describe(subkey, binding, binding);
  return {
    ...described,
    canSign: described.canSign && consent !== undefined,
    canCertify: false,
    emails: [],
    isRevoked: revocation !== undefined,
  };
}

function describe(
  key: PublicKey | Subkey,
  usage: SignaturePacket | undefined,
  lifetime: SignaturePacket | undefined,
): Omit<GpgSubkey, "emails" | "isRevoked"> {
  const { keyPacket } = key;
  const packets = new PacketList<KeyPacket>();
  packets.push(keyPacket);
  const createdAt = keyPacket.created.getTime();
  const seconds = lifetime?.keyNeverExpires === false ? lifetime.keyExpirationTime : null;

  // A key without flags may do what its algorithm can; no flag lets it do more than that.
  const { signs, encrypts } = abilities(keyPacket);
  const flags = usage?.keyFlags;
  const has = (flag: number): boolean => !flags || ((flags[0] ?? 0) & flag) !== 0;
  return {
    keyId: gpgKeyId(key.getKeyID()),
    fingerprint: normalizeGpgId(key.getFingerprint()),
    publicKeyBase64: formatBase64(packets.write()),
    canSign: signs && has(enums.keyFlags.signData),
    canCertify: signs && has(enums.keyFlags.certifyKeys),
    canEncryptComms: encrypts && has(enums.keyFlags.encryptCommunication),
    canEncryptStorage: encrypts && has(enums.keyFlags.encryptStorage),
    createdAt,
    expiresAt: seconds === null ? null : createdAt + seconds * 1000,
  };
}

function abilities({ algorithm }: KeyPacket): { signs: boolean; encrypts: boolean } {
  const { rsaEncryptSign, rsaEncrypt, elgamal, ecdh, x25519, x448 } = enums.publicKey;
  const encrypting: (number | null)[] = [rsaEncrypt, elgamal, ecdh, x25519, x448];
  const encrypts = encrypting.includes(algorithm);
  return { signs: !encrypts, encrypts: encrypts || algorithm === rsaEncryptSign };
}

/** The newest signature that the signer really made over the data, or undefined. */
async function newestValid(
  signatures: readonly SignaturePacket[],
  signer: KeyPacket,
  type: enums.signature,
  data: object,
  at: Date,
): Promise<SignaturePacket | undefined> {
  for (const signature of newestFirst(signatures)) {
    const isValid = await signature.verify(signer, type, data, at).then(
      () => true,
      () => false, // the library rejects for every reason that makes a signature worth nothing
    );
    if (isValid) return signature;
  }
  return undefined;
}

function directSignatures(key: PublicKey): SignaturePacket[] {
  return key
    .toPacketList()
    .filterByTag(enums.packet.signature)
    .filter((packet): packet is SignaturePacket => "signatureType" in packet)
    .filter((packet) => packet.signatureType === enums.signature.key);
}

/** How many signatures reading the key may check: what others certified is never looked at. */
export function countOwnSignatures(key: PublicKey): number {
  const own = [
    directSignatures(key),
    key.revocationSignatures,
    ...key.users.flatMap((user) => [user.selfCertifications, user.revocationSignatures]),
    ...key.subkeys.flatMap((subkey) => [subkey.bindingSignatures, subkey.revocationSignatures]),
  ];
  return own.flat().length;
}

function newestFirst(signatures: readonly SignaturePacket[]): SignaturePacket[] {
  return signatures.toSorted((a, b) => madeAt(b) - madeAt(a));
}

/** Bytes of the numbers that make a key: 16,384 bits, and where they are exponents, what is in use. */
const NUMBER_BYTES_MAX = 2048;
const EXPONENT_BYTES_MAX: Readonly<Record<string, number>> = { e: 4, q: 64 };

/**
 * Whether an RSA, DSA or Elgamal key is larger than anybody's.
 *
 * SECURITY: the library computes with such numbers itself, where the platform does not, and one
 * signature could take minutes.
 */
export function isTooLarge({ publicParams }: KeyPacket): boolean {
  return Object.entries(publicParams).some(
    ([name, number]) =>
      number instanceof Uint8Array &&
      number.length > (EXPONENT_BYTES_MAX[name] ?? NUMBER_BYTES_MAX),
  );
}

/** In milliseconds since the epoch. */
function madeAt(signature: SignaturePacket): number {
  return signature.created?.getTime() ?? 0;
}
