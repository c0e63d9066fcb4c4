import {
  organizationFacts,
  organizationRights,
  type OrganizationRights,
} from "../../../auth/access/organizations.ts";
import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { users, type User } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { isAccountNamed, isSeen, toMembership } from "../accounts/find-account.ts";

/**
 * Finds what a user's teams grant in an organization. A membership that the caller may not see
 * grants nothing.
 *
 * @throws Failure `not_found` for an organization that the caller may not see.
 */
export async function findRights(
  ctx: Ctx,
  user: User,
  orgName: string,
): Promise<OrganizationRights> {
  const [row] = await rightsIn(ctx.db, {
    caller: callerArgument(ctx.actor),
    userId: user.id,
    orgName: orgName.toLowerCase(),
  });
  if (row?.account.kind !== "organization" || !isSeen(ctx.actor, row)) throw notFound();
  const { isMember } = toMembership(ctx.actor, row);
  const isOwn = ctx.actor.user?.id === user.id;
  // SECURITY: a membership is private until its member makes it public.
  const isKnown = isOwn || isMember || row.rights.isPublic;
  return isKnown ? row.rights : { access: 0, canCreateRepository: false, isPublic: false };
}

const rightsIn = prepare(
  (db, p: Params<{ caller: CallerArgument; userId: number; orgName: string }>) =>
    db
      .select({
        account: columnsOf(users, "a"),
        ...organizationFacts(toCallerSql(p.caller).actorId),
        rights: organizationRights(p.userId),
      })
      .from(users)
      .where(isAccountNamed(p.orgName)),
);
