import type { Signing } from "../../config.ts";
import type { Ctx } from "../../context.ts";
import { type ByteText, decodeText } from "../../git/byte-text.ts";
import type { SplitSignature } from "../../git/object/commit.ts";
import { log } from "../../lib/log.ts";
import type { Verification } from "../../shapes/git/verification.ts";
import { type AccountKeys, findAccountKeys } from "./find-account-keys.ts";
import { checkSignature, type ReadSignature, readSignature } from "./read-signature.ts";
import { openServiceKey, type ServiceKey } from "./service-key.ts";

/** A commit or tag that may be signed. */
export interface Signable {
  readonly split: SplitSignature | undefined;
  /** The address of whoever is to have signed it: a commit's committer, a tag's tagger. */
  readonly email: ByteText | undefined;
}

/**
 * Judges signatures, each by the keys of the account that has the signer's address.
 *
 * A signature is good only if the account of that very address has the key now, whatever else is known
 * of the key: nobody's key speaks for another. Nothing of it is kept, so removing a key or an address
 * tells at once. What the service signed itself is good by its own key, whomever it names: it signs
 * for nobody but those it knows.
 *
 * SECURITY: an account that the caller may not see, or whose address is hidden, is no account here
 * either. Else a commit would tell whose address it names.
 *
 * Cost: one round to the database, none if nothing is signed; a check of one signature each.
 *
 * @returns The same, in the same order, each with what is known of its signature.
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

/** Who is to have made a signature, and what it says of itself. */
interface Claim {
  readonly split: SplitSignature | undefined;
  readonly email: string;
  /** Undefined where there is none, or none that can be read. */
  readonly read: ReadSignature | undefined;
}

async function readClaim<T extends Signable>(signable: T): Promise<Claim & { signable: T }> {
  const { split, email = "" as ByteText } = signable;
  const read = split && (await readSignature(split.signature));
  return { signable, split, email: decodeText(email), read };
}

/** Whatever key a signature may be by. */
interface Keyring {
  /** The service's own, and whom it names. */
  readonly service: Service | undefined;
  readonly accounts: AccountKeys | undefined;
}

type Signer = NonNullable<Verification["signer"]>;
type Service = Pick<ServiceKey, "keys"> & { readonly signer: Signer };

async function openKeyring(ctx: Ctx, claims: readonly Claim[]): Promise<Keyring> {
  const { signing } = ctx.config;
  const isNeeded = claims.some(({ read }) => read && read.kind === signing?.format);
  const service = signing && isNeeded ? await openService(signing, ctx.now) : undefined;
  const wanted = claims.flatMap(({ email, read }) =>
    read && !service?.keys.has(read.keyName) ? [{ email, ...read }] : [],
  );
  return {
    service,
    accounts: wanted.length > 0 ? await findAccountKeys(ctx, wanted) : undefined,
  };
}

/** Undefined for a key that can't be used: what was signed by it is unverified then, not unreadable. */
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
