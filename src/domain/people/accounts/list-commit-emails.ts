import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { listEmails } from "./emails.ts";
import { noReplyAddress, toIdentity } from "./git-identity.ts";

/**
 * Lists the addresses with which a user may sign a commit that the service makes for them: the
 * usual one first, then their confirmed ones and the no-reply address.
 *
 * Cost: one round trip.
 */
export async function listCommitEmails(ctx: Ctx, user: User): Promise<string[]> {
  const own = await listEmails(ctx, user);
  const confirmed = own.filter(({ isActivated }) => isActivated).map(({ email }) => email);
  const usual = decodeText(toIdentity(ctx, user).email);
  return [...new Set([usual, ...confirmed, noReplyAddress(ctx, user)])];
}
