import { boundTokenId, type Actor } from "../../../auth/actor.ts";
import type { User } from "../../../db/schema/index.ts";
import { forbidden, unauthenticated } from "../../../lib/failure.ts";
import type { HookOwner } from "./hook-owner.ts";

/**
 * Who answers for a hook that the caller sets up.
 *
 * SECURITY: a hook goes on telling after the credential that made it is gone, and an account's hook
 * tells of all its repositories. A token that reaches only some of them, or only what is public, must
 * not get the rest that way. Within a repository the guard has judged it.
 *
 * @throws Failure `unauthenticated` for nobody, `forbidden` for such a token.
 */
export function requireApprover(actor: Actor, hookOwner: HookOwner): User {
  if (!actor.user) throw unauthenticated("token is required");
  if (hookOwner.level !== "repository" && boundTokenId(actor) !== undefined) {
    throw forbidden("token is bound to repositories");
  }
  if (actor.scopes.isPublicOnly) {
    throw forbidden("token scope is limited to public repos");
  }
  return actor.user;
}
