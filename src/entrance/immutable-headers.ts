import type { Ctx } from "../context.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";

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
  { ctx }: { ctx: Ctx },
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
