import { routePath } from "hono/route";

import type { GuardContext } from "./guard.ts";

/**
 * The path of a request with other names in it.
 *
 * @param names Values of parameters of the path, by the parameter.
 */
export function renamedPath(c: GuardContext, names: Record<string, string>): string {
  // By place, not by text: a user may be called `v1` or `users`, and a name may be sent escaped.
  const pattern = routePath(c).split("/");
  return new URL(c.req.url).pathname
    .split("/")
    .map((segment, at) => names[pattern[at]?.replace(/^:/, "") ?? ""] ?? segment)
    .join("/");
}
