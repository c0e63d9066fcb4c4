import { boundTokenId } from "../../auth/actor.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import { hasScope } from "../../auth/scope.ts";
import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { forbidden } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isAccountNamed, isSeen, selectAccounts, toMembership } from "../accounts/find-account.ts";
import { createRepository } from "./create-repository.ts";
import { checkRepositoryName } from "./repository-name.ts";
import { apiRootOf } from "../../shapes/urls.ts";

/** A repository that a push may bring into being. */
export interface PushCreation {
  owner: User;
  creator: User;
  ownsOwner: boolean;
  name: string;
}

/**
 * What a push to a repository that does not exist may create.
 *
 * SECURITY: undefined for everybody who may not create one there, as for a repository that hides:
 * they must not learn which of the two it is. So it is for tokens that do not reach everything of
 * their user's.
 *
 * @throws Failure `forbidden` where the caller may create one, but not by a push; `invalid` for a
 * name that can't be.
 */
export async function findPushCreation(
  ctx: Ctx,
  ownerName: string,
  name: string,
): Promise<PushCreation | undefined> {
  const { actor, config } = ctx;
  const { user: creator } = actor;
  if (!creator || actor.scopes.isPublicOnly || boundTokenId(actor) !== undefined) return undefined;
  const [row] = await selectAccounts(ctx.db, callerSql(actor)).where(isAccountNamed(ownerName));
  if (!row || !isSeen(actor, row)) return undefined;

  const { account: owner } = row;
  const isOrganization = owner.kind === "organization";
  const { canCreateRepository, isOwner } = toMembership(actor, row);
  if (!(isOrganization ? canCreateRepository : owner.id === creator.id || actor.isSiteAdmin)) {
    return undefined;
  }
  const isEnabled = isOrganization ? config.isOrgPushCreateOn : config.isUserPushCreateOn;
  if (!isEnabled) {
    const owners = isOrganization ? "organizations" : "users";
    const path = isOrganization ? `orgs/${owner.name}/repos` : "user/repos";
    throw forbidden(
      `Push to create is not enabled for ${owners}.\n` +
        `${owner.name}/${name} does not exist: create it first, with POST ${apiRootOf(ctx)}/${path}`,
    );
  }
  const scope = isOrganization ? "write:organization" : "write:user";
  if (!hasScope(actor.scopes, scope)) {
    throw forbidden(`${owner.name}/${name} does not exist: to create it, a token needs ${scope}`);
  }
  checkRepositoryName(name);
  return { owner, creator, ownsOwner: isOrganization ? isOwner : true, name };
}

/** Creates what a push is about to fill. */
export const pushCreate = (
  ctx: Ctx,
  { owner, creator, ownsOwner, name }: PushCreation,
): Promise<RepositoryContext> =>
  createRepository(ctx, owner, creator, ownsOwner, {
    name,
    private: ctx.config.isPushCreatePrivate,
  });
