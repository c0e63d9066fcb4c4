import type { Context } from "hono";

import type { Requirement } from "../auth/access/requirement.ts";
import type { Scope } from "../auth/scope.ts";
import { enterRepository, type RequestContext } from "../entrance/enter-repository.ts";
import { requestPath } from "../lib/request-path.ts";
import { incoming } from "./door.ts";
import type { WebEnv } from "./env.ts";

/**
 * Authorizes a request for reading the repository of its path.
 *
 * @param ending A suffix of the repository's name at the end of the path, such as `.rss`.
 * @param scopes The scopes that a token needs.
 */
export function enterRepositoryPath(
  c: Context<WebEnv>,
  owner: string,
  name: string,
  requirement: Requirement,
  ending?: string,
  scopes: readonly Scope[] = ["read:repository"],
): Promise<RequestContext> {
  const rest = ending ?? `/${requestPath(c.req.url).split("/").slice(3).join("/")}`;
  return enterRepository(incoming(c), {
    owner,
    name,
    requirement,
    scopes,
    anonymous: "by-setting",
    pathAt: (renamed) => `/${renamed.owner.name}/${renamed.row.name}${rest}`,
  });
}
