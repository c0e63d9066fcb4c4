import type { AccessToken, Session, User } from "../db/schema/index.ts";
import { BeyondToken } from "../lib/failure.ts";
import { ALL_SCOPES, type Scope, type Scopes } from "./scope.ts";

/** The caller of a request and what its credential allows. */
export interface Actor {
  /** Undefined for an anonymous caller. */
  user: User | undefined;
  /**
   * Whether site-wide rights apply: an administrator whose token is neither public-only nor bound
   * to anything.
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

/**
 * An account for whom the service acts later than it was asked; anonymous for an account that may
 * not sign in any more, which acts no more.
 */
export const accountActor = (user: User): Actor =>
  user.kind !== "user" || !user.isActive || user.isLoginProhibited
    ? ANONYMOUS
    : { ...ANONYMOUS, user, isSiteAdmin: user.isAdmin, credential: "system", scopes: ALL_SCOPES };

/**
 * Whether the caller is limited to public resources: an anonymous caller or a public-only token.
 */
export function seesPublicOnly(actor: Actor): boolean {
  return actor.user === undefined || actor.scopes.isPublicOnly;
}

/**
 * The id of the caller's token where the token is bound to a list of repositories, else undefined.
 */
export function boundTokenId(actor: Actor): number | undefined {
  return actor.token?.isBound ? actor.token.id : undefined;
}

/** The account that acts in jobs, whose tokens alone have grants. A migration inserts it. */
export const JOBS_USER_ID = -2;

/** Whether the caller is a job of a workflow. */
export const isOfJob = ({ token }: Actor): boolean => token?.grants != null;

/**
 * Whether a credential reaches less than its account: nothing may follow from its pushes in other
 * repositories.
 */
export const isConfined = (actor: Actor): boolean =>
  seesPublicOnly(actor) || boundTokenId(actor) !== undefined;

/** The bindings of a token, besides its scopes and its end. */
export type TokenBinding = "repositories" | "refs" | "paths" | "packages";

/** The bindings of a token, in the order in which refusals name them. */
export function bindingsOf(token: AccessToken | undefined): TokenBinding[] {
  if (!token) return [];
  const bindings: [TokenBinding, boolean][] = [
    ["repositories", token.isBound],
    ["refs", token.boundRefs !== null],
    ["paths", token.boundPaths !== null],
    ["packages", token.boundPackages !== null],
  ];
  return bindings.filter(([, isBound]) => isBound).map(([binding]) => binding);
}

/**
 * Refuses a bound token where a request would change something that no binding names: its user's
 * account with their tokens, keys and addresses, organizations, who follows whom, or the
 * repositories that there are.
 *
 * SECURITY: such a token is given away for the sake of what it is bound to. A key or a token that
 * it adds would outlive it and reach further.
 *
 * @param scopes The scopes that the request needs.
 * @throws BeyondToken with the first of the token's bindings.
 */
export function refuseBoundWrite(actor: Actor, scopes: readonly Scope[]): void {
  if (scopes.some((scope) => scope.startsWith("write:"))) refuseBound(actor);
}

/** Refuses every bound token. @throws BeyondToken */
export function refuseBound({ token }: Actor): void {
  const [binding] = bindingsOf(token);
  if (binding) {
    throw new BeyondToken(
      `token-${binding}`,
      `a token that is bound to ${binding} changes nothing else`,
    );
  }
}
