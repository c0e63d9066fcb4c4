import { bindingsOf } from "../../../auth/actor.ts";
import { hasScope } from "../../../auth/scope.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type AccountRow, isSeen, toMembership } from "../../people/accounts/find-account.ts";
import { createRepository } from "./create-repository.ts";
import { checkRepositoryName } from "./repository-name.ts";
import { apiRootOf } from "../../../shapes/urls.ts";

/** A repository that a push may create. */
export interface PushCreation {
  owner: User;
  creator: User;
  ownsOwner: boolean;
  name: string;
}

/**
 * Decides whether a push to a repository that does not exist may create it.
 *
 * SECURITY: undefined for a caller who may not create a repository there, exactly as for a hidden
 * repository, so that the two can't be distinguished. Also undefined for public-only and bound
 * tokens.
 *
 * @param row The account in which the push would create it.
 * @throws Failure `forbidden` where the caller may create a repository, but not by a push or with
 * this token; `invalid` for an invalid name.
 */
export function toPushCreation(
  ctx: Ctx,
  row: AccountRow | undefined,
  name: string,
): PushCreation | undefined {
  const { actor, config } = ctx;
  const { user: creator } = actor;
  if (!creator || actor.scopes.isPublicOnly || bindingsOf(actor.token).length > 0) return undefined;
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

/** Creates the repository for a push. */
export const pushCreate = (
  ctx: Ctx,
  { owner, creator, ownsOwner, name }: PushCreation,
): Promise<RepositoryContext> =>
  createRepository(
    ctx,
    { owner, creator, ownsOwner },
    { name, private: ctx.config.isPushCreatePrivate },
  );
