import type { Context, Next } from "hono";

import { evaluateConditions, versionHeaders } from "../lib/conditional-request.ts";
import { formatHex } from "../lib/hex.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import type { GuardVariables } from "./guards/guard.ts";

/** The context of a request that passed a guard. */
type GuardedContext = Context<{ Variables: GuardVariables }>;

/**
 * Adds an `ETag` to a response, and evaluates the conditions of the request on it.
 *
 * The tag is a hash of the body, so that it also changes with data outside the repository that the
 * body contains, such as the name of an account. A handler that sets an `ETag` has evaluated the
 * conditions itself.
 *
 * Runs after the guard: a caller who may not read is refused, whatever tag they send.
 */
export async function answerConditionally(c: GuardedContext, next: Next): Promise<void> {
  await next();
  const { status, headers } = c.res;
  if (status !== 200 || headers.has("ETag")) return;
  if (!/^(?:application\/json|text\/plain)\b/.test(headers.get("Content-Type") ?? "")) return;
  const bytes = await c.res.arrayBuffer();
  const tag = formatHex(new Uint8Array(await crypto.subtle.digest("SHA-1", bytes)));
  const outcome = evaluateConditions(c.req.raw, { tag });
  const isWhole = outcome.status === 200;
  const kept = new Headers({ ...Object.fromEntries(headers), ...versionHeaders({ tag }) });
  if (!isWhole) for (const name of ["Content-Type", "Content-Length"]) kept.delete(name);
  // Cleared first: Hono merges the headers of the previous response into the one that is assigned.
  c.res = undefined;
  c.res = new Response(isWhole ? bytes : null, { status: outcome.status, headers: kept });
}

/** How long a client caches an immutable response, in seconds. */
const MAX_AGE_SECONDS = 7 * 24 * 60 * 60;
/** The same for shared caches: they keep serving a repository this long after it became private. */
const SHARED_MAX_AGE_SECONDS = 60;

/**
 * Cache headers of an immutable response: one that depends on nothing but its URL, which names an
 * object by its full id.
 *
 * SECURITY: shared caches may store it only if the request has no credential and all repositories
 * are public, since they serve it without an access check.
 */
export function immutableHeaders(
  { ctx }: Pick<GuardVariables, "ctx">,
  ...repos: readonly RepositoryContext[]
): Record<string, string> {
  const isPublic =
    ctx.actor.credential === "none" && repos.every(({ row }) => row.visibility === "public");
  const base = `max-age=${MAX_AGE_SECONDS}, immutable, no-transform`;
  return {
    "Cache-Control": isPublic
      ? `public, s-maxage=${SHARED_MAX_AGE_SECONDS}, ${base}`
      : `private, ${base}`,
    // All headers that identify the caller. A token in the query is part of the URL.
    Vary: "Authorization, Cookie, Sudo",
  };
}
