import { enums, PacketList } from "openpgp";
import type { PublicKey, SignaturePacket, Subkey, User } from "openpgp";
import { formatBase64 } from "../../../lib/base64.ts";
import { invalid } from "../../../lib/failure.ts";
import { gpgKeyId, normalizeGpgId } from "./fingerprint.ts";

export type GpgSubkey = {
  /** The key id: 16 upper-case hex digits. */
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
  /** The key with its user ids, subkeys and signatures, re-encoded as one armored block. */
  armored: string;
  subkeys: GpgSubkey[];
};

type KeyPacket = PublicKey["keyPacket"] | Subkey["keyPacket"];

/** Accepts a key that was just created on a computer whose clock is ahead. */
const CLOCK_SKEW_MS = 60 * 60 * 1000;

/**
 * Reads the properties of a key that its own signatures certify, verified at `now`.
 *
 * Cost: at most `countOwnSignatures` signature checks.
 *
 * @throws Failure `invalid` for a key without a valid self-signature.
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
  const selfSignatures = [directSignature, certification].filter((found) => found !== undefined);
  if (selfSignatures.length === 0) throw invalid("the key has no valid user id of its own");

  // The direct-key signature takes precedence over the user ids' certifications: it is about the
  // whole key.
  const usage = selfSignatures.find((signature) => signature.keyFlags);
  const lifetime = selfSignatures.find((signature) => signature.keyNeverExpires !== null);
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

/** The user ids that the key certifies, each with the newest certification. */
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
    // Unlike a key, a user id can be certified again after its revocation: the newer signature
    // counts.
    const isRevoked =
      certification && revocation && createdAtOf(revocation) >= createdAtOf(certification);
    if (certification && !isRevoked) identities.push({ user, certification });
  }
  return identities;
}

/** Reads a subkey; undefined when the primary key has no valid binding signature for it. */
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

  // SECURITY: a signing subkey must cross-certify the primary key. Otherwise anyone could bind
  // somebody else's subkey to their own key and impersonate the signer.
  const { embeddedSignature } = binding;
  const crossCertifications =
    embeddedSignature?.signatureType === keyBinding ? [embeddedSignature] : [];
  const crossCertification = await newestValid(
    crossCertifications,
    subkey.keyPacket,
    keyBinding,
    data,
    at,
  );

  const described = describe(subkey, binding, binding);
  return {
    ...described,
    canSign: described.canSign && crossCertification !== undefined,
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

  // A key without flags may do everything that its algorithm can; flags only restrict it.
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

/** The newest signature that verifies for the signer and the data, or undefined. */
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
      () => false, // the library rejects the promise for every kind of invalid signature
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

/**
 * The maximum number of signatures that reading the key checks; certifications by other keys are
 * ignored.
 */
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
  return signatures.toSorted((a, b) => createdAtOf(b) - createdAtOf(a));
}

/** Maximum size in bytes of a key's parameters: 16,384 bits, and for exponents the sizes in use. */
const NUMBER_BYTES_MAX = 2048;
const EXPONENT_BYTES_MAX: Readonly<Record<string, number>> = { e: 4, q: 64 };

/**
 * Whether an RSA, DSA or Elgamal key is larger than any key in use.
 *
 * SECURITY: the library computes with such numbers itself where the platform does not support them,
 * and one signature check could take minutes.
 */
export function isTooLarge({ publicParams }: KeyPacket): boolean {
  return Object.entries(publicParams).some(
    ([name, number]) =>
      number instanceof Uint8Array &&
      number.length > (EXPONENT_BYTES_MAX[name] ?? NUMBER_BYTES_MAX),
  );
}

/** In milliseconds since the epoch. */
function createdAtOf(signature: SignaturePacket): number {
  return signature.created?.getTime() ?? 0;
}
