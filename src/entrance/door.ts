import type { Requirement } from "../auth/access/requirement.ts";
import type { Actor } from "../auth/actor.ts";
import type { Credential } from "../auth/credential.ts";
import type { Scope, Scopes } from "../auth/scope.ts";
import type { Config } from "../config.ts";
import type { BaseCtx } from "../context.ts";
import type { Failure, NotFoundReason } from "../lib/failure.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";

/**
 * The differences between the doors when a request comes in: which headers they read, and how they
 * refuse it.
 */
export interface Door {
  /** Whether an administrator may act as another user by the `Sudo` header or parameter. */
  hasSudo: boolean;
  /** Refuses an anonymous caller where a credential is required. */
  refuseAnonymous(config: Config): Failure;
  /** Refuses a credential without the required scopes. */
  refuseScopes(missing: readonly Scope[], granted: Scopes): Failure;
  /**
   * Refuses a request for a resource that does not exist.
   *
   * SECURITY: also used for a resource that the caller may not see. The response must not let the
   * caller distinguish the two.
   *
   * @param reason What is not found, in a word; nothing of the name, unless the caller's token
   *   gives more.
   */
  refuseUnknown(actor: Actor, reason?: NotFoundReason): Failure;
  /**
   * Refuses a caller who may see a repository, but not do what the route does there.
   *
   * @throws Failure in the door's words, if the caller's permission does not meet the requirement.
   */
  requireAccess(actor: Actor, repo: RepositoryContext, requirement: Requirement): void;
}

/** A request as a door receives it, before its caller is authenticated. */
export interface IncomingRequest {
  door: Door;
  base: BaseCtx;
  raw: Request;
  /** The credential that the door read itself, in place of the `Authorization` header. */
  credential?: Credential | undefined;
}

/** The requirements of a route on every request, whatever its target. */
export interface Requirements {
  /** The scopes that a token must have; all of them are required. */
  scopes: readonly Scope[];
  /**
   * Whether anonymous callers are allowed; `by-setting` allows them unless the service requires
   * sign-in.
   */
  anonymous: "always" | "by-setting" | "never";
}

/** Makes the function that turns a request's Hono context into an incoming request at a door. */
export const incomingAt =
  (door: Door) =>
  (c: {
    readonly var: { readonly base: BaseCtx };
    readonly req: { readonly raw: Request };
  }): IncomingRequest => ({
    door,
    base: c.var.base,
    raw: c.req.raw,
  });
