import type { Actor } from "../../auth/actor.ts";
import { forbidden } from "../../lib/failure.ts";

/**
 * SECURITY: a public-only token must not read its user's private data.
 *
 * @throws Failure `forbidden` if the token is public-only.
 */
export function refusePublicOnly(actor: Actor): void {
  if (actor.scopes.isPublicOnly) throw forbidden("token scope is limited to public users");
}
