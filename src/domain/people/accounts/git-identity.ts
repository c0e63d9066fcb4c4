import { noReplyDomain } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { cleanIdentityText, type Identity } from "../../../git/object/identity.ts";

/** The address that stands for a user whose own one is hidden. */
export const noReplyAddress = ({ config, publicUrl }: Ctx, { lowerName }: User): string =>
  `${lowerName}@${noReplyDomain(config, publicUrl)}`;

/**
 * A user as a git identity with the time of the request.
 *
 * SECURITY: a hidden address is replaced by a no-reply address, since every reader of the
 * repository can read its commits.
 */
export function toIdentity(ctx: Ctx, user: User): Identity {
  const email = user.isEmailHidden ? noReplyAddress(ctx, user) : user.email;
  const name = cleanIdentityText(encodeText(user.fullName.replaceAll(/\p{Cc}/gu, " ")));
  return {
    name: name || (user.name as ByteText),
    email: cleanIdentityText(encodeText(email)),
    timeSeconds: Math.floor(ctx.now / 1000),
    zone: "+0000",
  };
}
