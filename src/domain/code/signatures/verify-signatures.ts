import type { Signing } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { SplitSignature } from "../../../git/object/commit.ts";
import { log } from "../../../lib/log.ts";
import type { Verification } from "../../../shapes/git/verification.ts";
import { type AccountKeys, findAccountKeys } from "./find-account-keys.ts";
import { checkSignature, type ReadSignature, readSignature } from "./read-signature.ts";
import { openServiceKey, type ServiceKey } from "./service-key.ts";

/** A commit or tag that may be signed. */
export interface Signable {
  readonly split: SplitSignature | undefined;
  /** The email address of the claimed signer: a commit's committer or a tag's tagger. */
  readonly email: ByteText | undefined;
}

/**
 * Verifies signatures, each with the keys of the account that has the signer's email address.
 *
 * A signature is valid only if that account currently has the key: a key of one account never signs
 * for another. Results are not stored, so removing a key or an address takes effect at once.
 * Signatures by the service's own key are valid for any identity, because the service signs only
 * for authenticated accounts.
 *
 * SECURITY: an account that the caller may not see, or whose email address is hidden, is treated as
 * missing. Otherwise a commit would reveal which account has the address it names.
 *
 * Cost: one round trip to the database, none if nothing is signed; one signature check for each
 * signature.
 *
 * @returns The input in the same order, each item with the result of its verification.
 */
export async function verifySignatures<T extends Signable>(
  ctx: Ctx,
  signables: readonly T[],
): Promise<(T & { verification: Verification })[]> {
  const claims = await Promise.all(signables.map(readClaim));
  const keyring = await openKeyring(ctx, claims);
  const verify = async ({ signable, ...claim }: Claim & { signable: T }) => {
    const verification = await verifyClaim(claim, keyring, ctx.now);
    return { ...signable, verification };
  };
  return Promise.all(claims.map(verify));
}

/** The claimed signer of a signature, and the parsed signature. */
interface Claim {
  readonly split: SplitSignature | undefined;
  readonly email: string;
  /** Undefined without a signature, or with one that can't be parsed. */
  readonly read: ReadSignature | undefined;
}

async function readClaim<T extends Signable>(signable: T): Promise<Claim & { signable: T }> {
  const { split, email = "" as ByteText } = signable;
  const read = split && (await readSignature(split.signature));
  return { signable, split, email: decodeText(email), read };
}

/** The keys that may have made the signatures. */
interface Keyring {
  /** The service's own keys and identity. */
  readonly service: Service | undefined;
  readonly accounts: AccountKeys | undefined;
}

type Signer = NonNullable<Verification["signer"]>;
type Service = Pick<ServiceKey, "keys"> & { readonly signer: Signer };

async function openKeyring(ctx: Ctx, claims: readonly Claim[]): Promise<Keyring> {
  const { signing } = ctx.config;
  const isNeeded = claims.some(({ read }) => read && read.kind === signing?.format);
  const service = signing && isNeeded ? await openService(signing, ctx.now) : undefined;
  const keyReferences = claims.flatMap(({ email, read }) =>
    read && !service?.keys.has(read.keyName) ? [{ email, ...read }] : [],
  );
  return {
    service,
    accounts: keyReferences.length > 0 ? await findAccountKeys(ctx, keyReferences) : undefined,
  };
}

/**
 * Returns undefined for a key that can't be used: its signatures are then unverified, and the
 * request still succeeds.
 */
async function openService(signing: Signing, now: number): Promise<Service | undefined> {
  try {
    const { keys } = await openServiceKey(signing, now);
    return { keys, signer: { name: signing.name, email: signing.email } };
  } catch {
    log("signing:unusable-key", { format: signing.format });
    return undefined;
  }
}

async function verifyClaim(
  { split, email, read }: Claim,
  { service, accounts }: Keyring,
  now: number,
): Promise<Verification> {
  const refuse = (reason: string): Verification => ({
    isVerified: false,
    reason: `gpg.error.${reason}`,
    split,
    signer: undefined,
  });
  if (!split) return refuse("not_signed_commit");
  if (!read) return refuse("extract_sign");
  if (read.isHashWeak) return refuse("generate_hash");
  const accept = (signer: Signer): Verification => ({
    isVerified: true,
    reason: `${signer.name} / ${read.keyName}`,
    split,
    signer,
  });
  const own = service?.keys.get(read.keyName);
  if (service && own) {
    const outcome = await checkSignature(read, own, split.signed, now);
    return outcome === "good" ? accept(service.signer) : refuse("probable_bad_default_signature");
  }
  const name = accounts?.findName(email);
  if (!accounts || name === undefined) return refuse("no_committer_account");
  const key = accounts.find(email, read);
  if (!key) return refuse("no_gpg_keys_found");
  const outcome = await checkSignature(read, key, split.signed, now);
  if (outcome === "unreadable") return refuse("failed_retrieval_gpg_keys");
  return outcome === "good" ? accept({ name, email }) : refuse("probable_bad_signature");
}
