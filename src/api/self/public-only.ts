import type { Actor } from "../../auth/actor.ts";
import { forbidden } from "../../lib/failure.ts";

/**
 * SECURITY: a public-only token reads nothing of its own user that others would not see.
 *
 * @throws Failure `forbidden`.
 */
export function refusePublicOnly(actor: Actor): void {
  if (actor.scopes.isPublicOnly) throw forbidden("token scope is limited to public users");
}
