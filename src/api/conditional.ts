import type { Context, Next } from "hono";

import { formatHex } from "../lib/hex.ts";
import { hasTag } from "../lib/entity-tag.ts";
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
