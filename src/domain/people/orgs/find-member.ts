import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { selectMembers } from "../../../auth/access/memberships.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { anyOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import type { User } from "../../../db/schema/index.ts";
import { isAccountNamed, wasAccountNamed } from "../accounts/find-account.ts";

/**
 * A member of an organization; the caller may not be allowed to see the membership or the account.
 */
export interface Member {
  user: User;
  /** Whether people outside the organization see the membership. */
  isPublic: boolean;
  /** Whether the caller may see the account. */
  isSeen: boolean;
}

/** Finds a member of an organization by a current or former name; undefined if there is none. */
export async function findMember(ctx: Ctx, org: User, name: string): Promise<Member | undefined> {
  const found = await membersNamed(ctx.db, {
    orgId: org.id,
    name: name.toLowerCase(),
    principal: principalOf(ctx.actor),
  });
  // The account that has the name now takes precedence over an account that had it before.
  return found.find(({ user }) => user.lowerName === name.toLowerCase()) ?? found[0];
}

const membersNamed = prepare(
  (db, { orgId, name, principal }: Params<{ orgId: number; name: string; principal: Principal }>) =>
    selectMembers(
      db,
      orgId,
      anyOf(isAccountNamed(name), wasAccountNamed(name)),
      isAccountVisible(principal),
    ),
);
