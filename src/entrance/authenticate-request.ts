import type { Actor } from "../auth/actor.ts";
import { authenticate, type Claims, type TargetQuery } from "../auth/authenticate.ts";
import type { CallerSql } from "../auth/caller-sql.ts";
import { readCredential } from "../auth/credential.ts";
import { noteTokenUse } from "../auth/note-token-use.ts";
import { hasScope, type Scope } from "../auth/scope.ts";
import type { Config } from "../config.ts";
import type { Ctx } from "../context.ts";
import type { Door, IncomingRequest, Requirements } from "./door.ts";

/**
 * Authenticates a request: resolves its caller and, in the same round trip, loads its target; refuses
 * anonymous callers and tokens without the required scopes; records the use of a token.
 *
 * @param selectTarget Builds the query for the target of the request.
 * @throws Failure as `authenticate` does, and the door's refusal where the requirements are not met.
 */
export async function authenticateRequest<Q extends TargetQuery>(
  { door, base, raw }: IncomingRequest,
  { scopes, anonymous }: Requirements,
  selectTarget?: (caller: CallerSql) => Q,
): Promise<{ ctx: Ctx; target: Q["_"]["result"] | undefined }> {
  const claims = readClaims(raw, door);
  const { actor, target } = await authenticate(base.db, claims, base.now, selectTarget);
  const ctx: Ctx = { ...base, actor };

  if (!actor.user && !isAnonymousAllowed(anonymous, base.config)) {
    throw door.refuseAnonymous(base.config);
  }
  requireScopes(door, actor, scopes);
  const recording = actor.token && noteTokenUse(ctx.db, actor.token, ctx.now);
  if (recording) ctx.defer(recording);
  return { ctx, target };
}

/** Refuses a caller whose credential lacks any of `scopes`. */
export function requireScopes(door: Door, { scopes: granted }: Actor, scopes: readonly Scope[]) {
  const missing = scopes.filter((scope) => !hasScope(granted, scope));
  if (missing.length > 0) throw door.refuseScopes(missing, granted);
}

function readClaims({ headers, url }: Request, { hasSudo }: Door): Claims {
  const query = new URL(url).searchParams;
  const credential = readCredential(headers.get("authorization") ?? undefined, query);
  const sudo = hasSudo ? headers.get("sudo") || query.get("sudo") || undefined : undefined;
  return { credential, sudo };
}

const isAnonymousAllowed = (anonymous: Requirements["anonymous"], config: Config): boolean =>
  anonymous === "always" || (anonymous === "by-setting" && !config.isSignInRequired);
