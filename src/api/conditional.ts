import type { Context, Next } from "hono";

import { formatHex } from "../lib/hex.ts";
import { hasTag } from "../lib/entity-tag.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import type { GuardVariables } from "./guards/guard.ts";

/** What of a request an answer's caching depends on. */
type GuardedContext = Context<{ Variables: GuardVariables }>;

/**
 * Tags what a route answers, and answers 304 to whoever has it already.
 *
 * The tag is a hash of the bytes: what else they tell, such as the name of an account, changes it as a
 * new commit does. An answer that carries a tag of its own keeps it.
 *
 * Stands behind the guard: who may not read is told so, whatever they have.
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
    c.res = new Response(bytes, { status, headers });
  }
  if (!hasTag(c.req.header("if-none-match"), tag)) return;
  await c.res.body?.cancel();
  const kept = new Headers(headers);
  for (const name of ["Content-Type", "Content-Length"]) kept.delete(name);
  // Set twice: what is set over an answer takes its headers along.
  c.res = undefined;
  c.res = new Response(null, { status: 304, headers: kept });
}

/** How long an answer that never changes is kept, in seconds. */
const KEPT_SECONDS = 7 * 24 * 60 * 60;
/** The same where it is kept for many: until then they are given what has become private meanwhile. */
const SHARED_SECONDS = 60;

/**
 * Headers of an answer that never changes: all that it tells follows from its address, in which an
 * object is named by its whole id.
 *
 * SECURITY: kept for others only where nobody showed a credential and anybody may see it.
 */
export function immutableHeaders(
  { ctx }: Pick<GuardVariables, "ctx">,
  ...entries: readonly RepositoryContext[]
): Record<string, string> {
  const isPublic =
    ctx.actor.credential === "none" && entries.every(({ row }) => row.visibility === "public");
  const kept = `max-age=${KEPT_SECONDS}, immutable, no-transform`;
  return {
    "Cache-Control": isPublic ? `public, s-maxage=${SHARED_SECONDS}, ${kept}` : `private, ${kept}`,
    // Whatever tells who asks. A token in the query is part of the address.
    Vary: "Authorization, Cookie, Sudo",
  };
}
