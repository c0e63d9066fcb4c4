import type { Context, Next } from "hono";

import { formatHex } from "../lib/hex.ts";
import { hasTag } from "../lib/entity-tag.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import type { GuardVariables } from "./guards/guard.ts";

/** The context of a request that passed a guard. */
type GuardedContext = Context<{ Variables: GuardVariables }>;

/**
 * Adds an `ETag` to a response, and answers 304 if the client's `If-None-Match` has that tag.
 *
 * The tag is a hash of the body, so that it also changes with data outside the repository that the
 * body contains, such as the name of an account. A response that has an `ETag` already keeps it.
 *
 * Runs after the guard: a caller who may not read is refused, whatever tag they send.
 */
export async function answerConditionally(c: GuardedContext, next: Next): Promise<void> {
  await next();
  const { status, headers } = c.res;
  if (status !== 200) return;
  let tag = /^(?:W\/)?"(.*)"$/.exec(headers.get("ETag") ?? "")?.[1];
  if (tag === undefined) {
    if (!/^(?:application\/json|text\/plain)\b/.test(headers.get("Content-Type") ?? "")) return;
    const bytes = await c.res.arrayBuffer();
    tag = formatHex(new Uint8Array(await crypto.subtle.digest("SHA-1", bytes)));
    headers.set("ETag", `"${tag}"`);
    // Cleared first: Hono merges the headers of the previous response into the one that is
    // assigned.
    c.res = undefined;
    c.res = new Response(bytes, { status, headers });
  }
  if (!hasTag(c.req.header("if-none-match"), tag)) return;
  await c.res.body?.cancel();
  const retained = new Headers(headers);
  for (const name of ["Content-Type", "Content-Length"]) retained.delete(name);
  c.res = undefined;
  c.res = new Response(null, { status: 304, headers: retained });
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
