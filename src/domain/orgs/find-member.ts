import { isAccountVisible } from "../../auth/access/accounts.ts";
import { selectMembers } from "../../auth/access/memberships.ts";
import type { Ctx } from "../../context.ts";
import { anyOf } from "../../db/db.ts";
import type { User } from "../../db/schema/index.ts";
import { isAccountNamed, wasAccountNamed } from "../accounts/find-account.ts";

/** A member of an organization, whether or not the caller may know of it. */
export interface Member {
  user: User;
  /** Whether outsiders see the membership. */
  isPublic: boolean;
  /** Whether the caller sees the account. */
  isSeen: boolean;
}

/** The member of a name, also of an earlier one; undefined where nobody of that name belongs. */
export async function findMember(ctx: Ctx, org: User, name: string): Promise<Member | undefined> {
  const isNamed = anyOf(isAccountNamed(name), wasAccountNamed(name));
  const found = await selectMembers(ctx.db, org.id, isNamed, isAccountVisible(ctx.actor));
  // Whoever has the name now comes before whoever had it.
  return found.find(({ user }) => user.lowerName === name.toLowerCase()) ?? found[0];
}
