import type { Actor } from "../auth/actor.ts";
import type { Scope, Scopes } from "../auth/scope.ts";
import type { Config } from "../config.ts";
import type { BaseCtx } from "../context.ts";
import type { Failure } from "../lib/failure.ts";

/** What differs between the doors when a request comes in: what they read of it, and how they refuse it. */
export interface Door {
  /** Whether an administrator may act as another user by `Sudo`. */
  hasSudo: boolean;
  /** Refuses an anonymous caller where none may come in. */
  refuseAnonymous(config: Config): Failure;
  /** Refuses a credential that lacks scopes. */
  refuseScopes(missing: readonly Scope[], granted: Scopes): Failure;
  /**
   * Refuses a request for what does not exist.
   *
   * SECURITY: or for what the caller may not see. It is told nothing that would tell the two apart.
   */
  refuseUnknown(actor: Actor): Failure;
}

/** A request as it reaches a door, before its caller is known. */
export interface IncomingRequest {
  door: Door;
  base: BaseCtx;
  raw: Request;
}

/** What a request needs to come in, whatever it is about. */
export interface Requirements {
  /** The scopes that a token must have, all of them. */
  scopes: readonly Scope[];
  /** Whether anonymous callers may come in; `by-setting` unless the service requires everybody to sign in. */
  anonymous: "always" | "by-setting" | "never";
}
