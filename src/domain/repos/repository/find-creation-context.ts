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
    return { owner, creator, ownsOwner: true };
  }
  const { canCreateRepository, isOwner } = toMembership(actor, row);
  if (!canCreateRepository) {
    throw forbidden("Given user is not allowed to create repository in organization.");
  }
  return { owner, creator, ownsOwner: isOwner };
}

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
 * Lists the accounts for which a user may create repositories: the user, and organizations by name.
 *
 * Cost: one round trip.
 */
export async function listCreationOwners({ db }: Ctx, creator: User): Promise<User[]> {
  return [creator, ...(await organizationsToCreateIn(db, { userId: creator.id }))];
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
