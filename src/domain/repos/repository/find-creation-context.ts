import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import {
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
