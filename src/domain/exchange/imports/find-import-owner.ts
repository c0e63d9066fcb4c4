import { eq } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { type User, users } from "../../../db/schema/index.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import {
  isAccountNamed,
  isSeen,
  selectAccounts,
  toMembership,
} from "../../people/accounts/find-account.ts";
import type { CreationContext } from "../../repos/repository/insert-repository.ts";

/** @throws Failure `forbidden` where migrations are switched off. */
export function requireMigrations({ config }: Pick<Ctx, "config">): void {
  if (config.areMigrationsDisabled) {
    throw forbidden("the site administrator has disabled migrations");
  }
}

/** The owner of an imported repository, by name or id. */
export interface ImportOwner {
  /** By name, or else by id; the caller without either. */
  readonly ownerName: string;
  readonly ownerId: number;
}

/**
 * Finds the owner of the new repository.
 *
 * SECURITY: an account that the caller may not see does not exist.
 *
 * @throws Failure `invalid` for an unknown owner, `forbidden` without the right to create
 *   repositories there.
 */
export async function findImportOwner(
  ctx: Ctx,
  creator: User,
  { ownerName, ownerId }: ImportOwner,
): Promise<CreationContext> {
  const { actor, db } = ctx;
  const isSelf =
    ownerName === ""
      ? ownerId === 0 || ownerId === creator.id
      : ownerName.toLowerCase() === creator.lowerName;
  if (isSelf) return { owner: creator, creator, ownsOwner: true };
  const isRequested = ownerName === "" ? eq(users.id, ownerId) : isAccountNamed(ownerName);
  const [row] = await selectAccounts(db, callerSql(actor)).where(isRequested);
  if (!row || !isSeen(actor, row)) {
    const uid = ownerName === "" ? ownerId : 0;
    throw invalid(`user does not exist [uid: ${uid}, name: ${ownerName}]`);
  }
  const { account: owner } = row;
  if (owner.kind === "user") {
    if (!actor.isSiteAdmin) throw forbidden("Given user is not an organization.");
    return { owner, creator, ownsOwner: true };
  }
  const { canCreateRepository, isOwner } = toMembership(actor, row);
  if (!canCreateRepository) throw forbidden("Given user is not owner of organization.");
  return { owner, creator, ownsOwner: isOwner };
}
