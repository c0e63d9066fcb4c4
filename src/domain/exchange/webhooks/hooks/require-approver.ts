import { boundTokenId, type Actor } from "../../../../auth/actor.ts";
import type { User } from "../../../../db/schema/index.ts";
import { forbidden, unauthenticated } from "../../../../lib/failure.ts";
import type { HookOwner } from "./hook-owner.ts";

/**
 * Returns the caller as the approver of a hook.
 *
 * SECURITY: a hook keeps delivering after the credential that created it is gone, and an account's
 * hook delivers events of all its repositories. A token that reaches only some repositories, or
 * only public ones, must not gain access to the rest through a hook. For a repository's hook the
 * guard has checked the access.
 *
 * @throws Failure `unauthenticated` for an anonymous caller, `forbidden` for a token restricted in
 * this way.
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
