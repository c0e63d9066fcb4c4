import { noReplyDomain, type SignedOperation } from "../../config.ts";
import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { type ByteText, decodeText } from "../../git/byte-text.ts";
import type { Identity } from "../../git/object/identity.ts";
import { openServiceKey } from "./service-key.ts";

/** Something that the service makes, and for whom. */
export interface Making {
  readonly operation: SignedOperation;
  /** Whom it names: author and committer, or tagger. */
  readonly identities: readonly Identity[];
  /** The accounts that the service knows to be behind it. */
  readonly people: readonly User[];
}

/**
 * The service's signature over `bytes`, without the line feed at its end.
 *
 * SECURITY: the service vouches for whom it names, so it signs nothing that names others than the
 * people who are behind it: a caller may give any author, and would pass for them.
 *
 * @returns Undefined where it is not to sign: no key, not this occasion, or somebody else's name.
 * @throws Error if it is to and can't.
 */
export async function signAsService(
  ctx: Ctx,
  bytes: Uint8Array,
  { operation, identities, people }: Making,
): Promise<ByteText | undefined> {
  const { signing } = ctx.config;
  if (!signing?.operations.has(operation)) return undefined;
  const own = new Set(people.flatMap((user) => addressesOf(ctx, user)));
  const isTheirs = ({ email }: Identity) => own.has(decodeText(email).toLowerCase());
  if (!identities.every(isTheirs)) return undefined;
  const key = await openServiceKey(signing, ctx.now);
  return (await key.sign(bytes, ctx.now)).trimEnd().replaceAll("\r\n", "\n") as ByteText;
}

/** The addresses under which a user commits here: the primary one, and that of the service's own domain. */
const addressesOf = ({ config, rootUrl }: Ctx, user: User): string[] => [
  user.email.toLowerCase(),
  `${user.lowerName}@${noReplyDomain(config, rootUrl)}`,
];
