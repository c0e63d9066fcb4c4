import { isAccountVisible } from "../../auth/access/accounts.ts";
import { selectMembers } from "../../auth/access/memberships.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { anyOf } from "../../db/db.ts";
import type { User } from "../../db/schema/index.ts";
import { isAccountNamed, wasAccountNamed } from "../accounts/find-account.ts";

/** A member of an organization; the caller may not be allowed to see the membership or the account. */
export interface Member {
  user: User;
  /** Whether people outside the organization see the membership. */
  isPublic: boolean;
  /** Whether the caller may see the account. */
  isSeen: boolean;
}

/** Finds a member of an organization by a current or former name; undefined if there is none. */
export async function findMember(ctx: Ctx, org: User, name: string): Promise<Member | undefined> {
  const isNamed = anyOf(isAccountNamed(name), wasAccountNamed(name));
  const found = await selectMembers(
    ctx.db,
    org.id,
    isNamed,
    isAccountVisible(principalOf(ctx.actor)),
  );
  // The account that has the name now takes precedence over an account that had it before.
  return found.find(({ user }) => user.lowerName === name.toLowerCase()) ?? found[0];
}
