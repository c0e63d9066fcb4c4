import { boundTokenId } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { Failure, forbidden, invalid, unauthenticated } from "../../../lib/failure.ts";
import { isRefused, parseRemoteAddress, type RemoteAddress } from "../remotes/remote-address.ts";

/** @throws Failure `malformed` where mirrors are switched off. */
export function requireMirrors({ config }: Pick<Ctx, "config">): void {
  if (!config.mirrors.isOn) throw new Failure("malformed", "Mirror feature is disabled");
}

/**
 * Returns the caller as the one who answers for a mirror.
 *
 * SECURITY: a mirror goes on when the credential that made it is gone. A credential that reaches
 * only a part of what its account does must not leave something behind that reaches more.
 *
 * @throws Failure `unauthenticated` for an anonymous caller, `forbidden` for a narrowed token.
 */
export function requireMirrorApprover({ actor }: Ctx): User {
  if (!actor.user) throw unauthenticated("token is required");
  if (actor.scopes.isPublicOnly) throw forbidden("token scope is limited to public repos");
  if (boundTokenId(actor) !== undefined) throw forbidden("token is bound to repositories");
  return actor.user;
}

/** How long a name may take to resolve. */
const CHECK_MS = 5000;

/**
 * Checks the address of a mirror before it is stored. It is checked again on each request.
 *
 * @throws Failure `malformed` for an address that is none, or of another protocol; `invalid` for a
 * host that may not be asked.
 */
export async function checkMirrorAddress(
  { outgoing }: Ctx,
  text: string,
  credentials: { readonly username: string; readonly password: string },
): Promise<RemoteAddress> {
  const address = parseRemoteAddress(text, credentials);
  if (isRefused(address)) {
    throw new Failure(
      "malformed",
      address.refusal === "scheme" ? "Invalid mirror protocol" : "Invalid Url ",
    );
  }
  const refusal = await outgoing.check(address.url, CHECK_MS);
  if (refusal?.kind === "blocked") {
    throw invalid(`You can not mirror to or from disallowed hosts: ${refusal.reason}.`);
  }
  return address;
}
