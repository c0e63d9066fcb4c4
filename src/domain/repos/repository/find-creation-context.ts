import { asc, sql } from "drizzle-orm";

import { mayCreateIn, organizationIds } from "../../../auth/access/organizations.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { users, type User } from "../../../db/schema/index.ts";
import { forbidden, invalid, notFound } from "../../../lib/failure.ts";
import {
  findMembership,
  findSeenAccount,
  isAccountNamed,
  isSeen,
  selectAccounts,
  toMembership,
} from "../../people/accounts/find-account.ts";
import type { CreationContext } from "./insert-repository.ts";

/**
 * Finds the owner of a new repository by name, and whether the caller may create one there.
 *
 * @throws Failure `not_found` if there is no such account for the caller; `forbidden` if it is
 * another user's, or an organization in which the caller may not create repositories.
 */
export async function findCreationContext(
  ctx: Ctx,
  creator: User,
  ownerName: string,
): Promise<CreationContext> {
  const { actor, db } = ctx;
  if (ownerName.toLowerCase() === creator.lowerName) {
    return { owner: creator, creator, ownsOwner: true };
  }
  const [row] = await selectAccounts(db, callerSql(actor)).where(isAccountNamed(ownerName));
  if (!row || !isSeen(actor, row)) throw notFound(`request owner \`${ownerName}\` does not exist`);
  const { account: owner } = row;
  if (owner.kind === "user") {
    if (!actor.isSiteAdmin) {
      throw forbidden("Only admin can generate repository for other user.");
    }
    return creationForOther(owner, creator);
  }
  const { canCreateRepository, isOwner } = toMembership(actor, row);
  if (!canCreateRepository) {
    throw forbidden("Given user is not allowed to create repository in organization.");
  }
  return { owner, creator, ownsOwner: isOwner };
}

/** An administrator creates a repository for somebody else, whose maximum does not apply. */
export const creationForOther = (owner: User, administrator: User): CreationContext => ({
  owner,
  creator: administrator,
  ownsOwner: true,
  isUnlimited: true,
});

/**
 * Finds the owner of a fork by name, and whether the caller may create a repository there.
 *
 * SECURITY: a fork into an organization requires permission to create repositories there.
 *
 * @param organization Undefined or "" for the creator.
 * @throws Failure `invalid` for an organization that does not exist for the caller, `forbidden`
 *   where they may not create repositories in it.
 */
export async function findForkContext(
  ctx: Ctx,
  creator: User,
  organization: string | undefined,
): Promise<CreationContext> {
  if (!organization) return { owner: creator, creator, ownsOwner: true };
  const found = await findMembership(ctx, organization);
  if (!found) throw invalid(`organization does not exist [name: ${organization}]`);
  if (!found.membership.canCreateRepository) {
    throw forbidden("Given user is not allowed to create repository in organization.");
  }
  return { owner: found.account, creator, ownsOwner: found.membership.isOwner };
}

/** Organizations that a form lets a person choose from. */
const OWNERS_MAX = 200;

/**
 * Lists the accounts for which a user may create repositories: the user, organizations by name, and
 * for administrators of the service the account that a form names.
 *
 * Cost: one round trip.
 */
export async function listCreationOwners(ctx: Ctx, creator: User, named = ""): Promise<User[]> {
  const [organizations, other] = await Promise.all([
    organizationsToCreateIn(ctx.db, { userId: creator.id }),
    ctx.actor.isSiteAdmin && named !== "" ? findSeenAccount(ctx, named) : undefined,
  ]);
  const owners = [creator, ...organizations];
  return other && owners.every(({ id }) => id !== other.id) ? [...owners, other] : owners;
}

const organizationsToCreateIn = prepare((db, { userId }: Params<{ userId: number }>) =>
  db
    .select()
    .from(users)
    .where(
      allOf(
        sql`${users.id} in ${organizationIds(userId, false)}`,
        mayCreateIn(sql`${users.id}`, sql`${userId}`),
      ),
    )
    .orderBy(asc(users.lowerName))
    .limit(OWNERS_MAX),
);
