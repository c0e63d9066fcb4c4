import { routePath } from "hono/route";

import { requestPath } from "../../lib/request-path.ts";
import type { GuardContext } from "./guard.ts";

/**
 * The path of a request with some parameters replaced.
 *
 * @param names New values by parameter name.
 */
export function renamedPath(c: GuardContext, names: Record<string, string>): string {
  // By position, not by text: a user may be called `v1` or `users`, and a name may be
  // percent-encoded.
  const pattern = routePath(c).split("/");
  return requestPath(c.req.url)
    .split("/")
    .map((segment, at) => names[pattern[at]?.replace(/^:/, "") ?? ""] ?? segment)
    .join("/");
}
