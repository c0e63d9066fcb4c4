import type { Context } from "hono";

import type { Requirement } from "../auth/access/requirement.ts";
import { enterRepository, type RequestContext } from "../entrance/enter-repository.ts";
import { requestPath } from "../lib/request-path.ts";
import { incoming } from "./door.ts";
import type { WebEnv } from "./env.ts";

/**
 * Authorizes a request for reading the repository of its path.
 *
 * @param ending A suffix of the repository's name at the end of the path, such as `.rss`.
 */
export function enterRepositoryPath(
  c: Context<WebEnv>,
  owner: string,
  name: string,
  requirement: Requirement,
  ending?: string,
): Promise<RequestContext> {
  const rest = ending ?? `/${requestPath(c.req.url).split("/").slice(3).join("/")}`;
  return enterRepository(incoming(c), {
    owner,
    name,
    requirement,
    scopes: ["read:repository"],
    anonymous: "by-setting",
    pathAt: (renamed) => `/${renamed.owner.name}/${renamed.row.name}${rest}`,
  });
}
