import { noReplyDomain, type SignedOperation } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { Identity } from "../../../git/object/identity.ts";
import { openServiceKey } from "./service-key.ts";

/** The context of a commit or tag that the service signs. */
export interface SigningContext {
  readonly operation: SignedOperation;
  /** The identities in the object: author and committer, or tagger. */
  readonly identities: readonly Identity[];
  /** The authenticated accounts for which the object is created. */
  readonly people: readonly User[];
}

/**
 * Signs `bytes` with the service's key. The signature has no final line feed.
 *
 * SECURITY: the service's signature vouches for the identities in the object, so it signs only
 * objects whose identities all belong to the authenticated accounts. A caller may choose any author
 * and could otherwise impersonate them.
 *
 * @returns Undefined where the service does not sign: no key, an operation that is not configured
 * for signing, or an identity of somebody else.
 * @throws Error if the key can't be used.
 */
export async function signAsService(
  ctx: Ctx,
  bytes: Uint8Array,
  { operation, identities, people }: SigningContext,
): Promise<ByteText | undefined> {
  const { signing } = ctx.config;
  if (!signing?.operations.has(operation)) return undefined;
  const own = new Set(people.flatMap((user) => addressesOf(ctx, user)));
  const isOwnIdentity = ({ email }: Identity) => own.has(decodeText(email).toLowerCase());
  if (!identities.every(isOwnIdentity)) return undefined;
  const key = await openServiceKey(signing, ctx.now);
  return (await key.sign(bytes, ctx.now)).trimEnd().replaceAll("\r\n", "\n") as ByteText;
}

/**
 * The email addresses under which a user commits: the primary one, and the no-reply address of the
 * service.
 */
const addressesOf = ({ config, publicUrl }: Ctx, user: User): string[] => [
  user.email.toLowerCase(),
  `${user.lowerName}@${noReplyDomain(config, publicUrl)}`,
];
