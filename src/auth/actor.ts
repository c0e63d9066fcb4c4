import type { AccessToken, User } from "../db/schema/index.ts";
import { ALL_SCOPES, type Scopes } from "./scope.ts";

/** Who is calling, and how far what they showed reaches. */
export interface Actor {
  /** Nobody where the caller is anonymous. */
  user: User | undefined;
  /** Whether every site right applies: an administrator whose credential is not narrowed to public things. */
  isSiteAdmin: boolean;
  credential: "none" | "basic" | "token" | "system";
  scopes: Scopes;
  /** The access token that was shown. */
  token: AccessToken | undefined;
}

export const ANONYMOUS: Actor = {
  user: undefined,
  isSiteAdmin: false,
  credential: "none",
  scopes: ALL_SCOPES,
  token: undefined,
};

/** Whether only what everybody may see is shown: to anonymous callers and to public-only tokens. */
export function seesPublicOnly(actor: Actor): boolean {
  return actor.user === undefined || actor.scopes.isPublicOnly;
}

/** The token whose list of repositories is all the caller reaches, where it is bound to one. */
export function boundTokenId(actor: Actor): number | undefined {
  return actor.token?.isBound ? actor.token.id : undefined;
}
