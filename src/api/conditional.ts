import type { Context, Next } from "hono";

import { evaluateConditions, versionHeaders } from "../lib/conditional-request.ts";
import { formatHex } from "../lib/hex.ts";
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
