import { eq } from "drizzle-orm";

import { isAccountVisible } from "../../auth/policy.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, columnsOf, flagColumn } from "../../db/db.ts";
import { organizationMembers, users, type User } from "../../db/schema/index.ts";
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
  const found = await ctx.db
    .select({
      user: columnsOf(users, "u"),
      isPublic: organizationMembers.isPublic,
      isSeen: flagColumn(isAccountVisible(ctx.actor), "is_seen"),
    })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .where(
      allOf(
        eq(organizationMembers.orgId, org.id),
        anyOf(isAccountNamed(name), wasAccountNamed(name)),
      ),
    );
  // Whoever has the name now comes before whoever had it.
  return found.find(({ user }) => user.lowerName === name.toLowerCase()) ?? found[0];
}
