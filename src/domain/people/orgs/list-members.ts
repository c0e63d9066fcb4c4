import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import type { Membership } from "../accounts/find-account.ts";
import { listAccountsIn, listAllAccountsIn } from "../accounts/list-accounts.ts";
import type { Listed, Slice } from "../../slice.ts";

/** Whether the caller may see all members, not only public members. */
export const seesAllMembers = ({ actor }: Ctx, { isMember }: Membership): boolean =>
  isMember && !actor.scopes.isPublicOnly;

/** Lists the members of an organization that the caller may see, by name. */
export const listMembers = (
  ctx: Ctx,
  org: User,
  membership: Membership,
  slice: Slice,
): Promise<Listed<User>> =>
  seesAllMembers(ctx, membership)
    ? listAllAccountsIn(ctx, { membersOf: org.id, isPublicOnly: false }, slice)
    : listAccountsIn(ctx, { membersOf: org.id, isPublicOnly: true }, slice);
