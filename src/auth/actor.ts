import type { AccessToken, Session, User } from "../db/schema/index.ts";
import { forbidden } from "../lib/failure.ts";
import { ALL_SCOPES, type Scope, type Scopes } from "./scope.ts";

/** The caller of a request and what its credential allows. */
export interface Actor {
  /** Undefined for an anonymous caller. */
  user: User | undefined;
  /**
   * Whether site-wide rights apply: an administrator whose token is neither public-only nor bound to
   * repositories.
   */
  isSiteAdmin: boolean;
  credential: "none" | "basic" | "token" | "session" | "system";
  scopes: Scopes;
  /** The access token of the request, where it carries one. */
  token: AccessToken | undefined;
  /** The administrator who acts as `user`, by sudo. */
  sudoer?: User | undefined;
  /** The session of the request, where a page was requested with its cookie. */
  session: Session | undefined;
}

export const ANONYMOUS: Actor = {
  user: undefined,
  isSiteAdmin: false,
  credential: "none",
  scopes: ALL_SCOPES,
  token: undefined,
  session: undefined,
};

/** Whether the caller is limited to public resources: an anonymous caller or a public-only token. */
export function seesPublicOnly(actor: Actor): boolean {
  return actor.user === undefined || actor.scopes.isPublicOnly;
}

/** The id of the caller's token where the token is bound to a list of repositories, else undefined. */
export function boundTokenId(actor: Actor): number | undefined {
  return actor.token?.isBound ? actor.token.id : undefined;
}

/**
 * Refuses a token that is bound to repositories where a request would change something else: its user's account with
 * their tokens, keys and addresses, organizations, or who follows whom.
 *
 * SECURITY: such a token is given away for the sake of a few repositories. A key or a token that it adds would outlive
 * it and reach further.
 *
 * @param scopes The scopes that the request needs.
 * @throws Failure `forbidden`.
 */
export function refuseBoundWrite(actor: Actor, scopes: readonly Scope[]): void {
  const isWrite = scopes.some((scope) => scope.startsWith("write:"));
  if (isWrite && boundTokenId(actor) !== undefined) {
    throw forbidden("a token that is bound to repositories changes nothing else");
  }
}
