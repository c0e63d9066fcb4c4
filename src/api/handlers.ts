import type { Context } from "hono";

import type { Listed } from "../domain/slice.ts";
import { notFound } from "../lib/failure.ts";
import type { Viewer } from "../shapes/viewer.ts";
import type { GuardVariables } from "./guards/guard.ts";
import { type Page, type PageContext, pageOf } from "./paging.ts";

// The handlers of routes that differ only in the operation that they call.

interface EmptyContext {
  readonly var: unknown;
  readonly body: Context["body"];
}

/** Does the work of a route, and answers 204. */
export async function done<C extends EmptyContext>(
  c: C,
  work: (variables: C["var"]) => Promise<unknown>,
) {
  await work(c.var);
  return c.body(null, 204);
}

/**
 * Answers 204 for what is found or true.
 *
 * @throws Failure `not_found` for anything else.
 */
export async function check<C extends EmptyContext>(
  c: C,
  find: (variables: C["var"]) => Promise<unknown>,
) {
  if (!(await find(c.var))) throw notFound();
  return c.body(null, 204);
}

interface ListContext extends PageContext {
  readonly var: Pick<GuardVariables, "ctx" | "viewer">;
  readonly req: PageContext["req"] & {
    valid(target: "query"): { readonly page: number; readonly limit: number };
  };
  readonly json: Context["json"];
}

/**
 * Answers the page of a list that the query selects, each item in its shape.
 *
 * @param read As for `pageOf`.
 */
export async function answerPage<C extends ListContext, T, S>(
  c: C,
  list: (variables: C["var"], slice: Page) => Promise<Listed<T>>,
  toShape: (item: T, viewer: Viewer) => S,
  read?: Parameters<typeof pageOf>[3],
) {
  const items = await pageOf(c, c.req.valid("query"), (slice) => list(c.var, slice), read);
  return c.json(
    items.map((item) => toShape(item, c.var.viewer)),
    200,
  );
}
