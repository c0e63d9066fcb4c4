import type { Context } from "hono";

import type { Requirement } from "../auth/access/requirement.ts";
import type { Scope } from "../auth/scope.ts";
import { enterPull } from "../entrance/enter-pull.ts";
import {
  enterRepository,
  type RepositoryTarget,
  type RequestContext,
} from "../entrance/enter-repository.ts";
import { requestPath } from "../lib/request-path.ts";
import { incoming } from "./door.ts";
import type { WebEnv } from "./env.ts";

/**
 * Authorizes a request for reading the repository of its path.
 *
 * @param ending A suffix of the repository's name at the end of the path, such as `.rss`.
 * @param scopes The scopes that a token needs.
 */
export const enterRepositoryPath = (
  c: Context<WebEnv>,
  owner: string,
  name: string,
  requirement: Requirement,
  ending?: string,
  scopes: readonly Scope[] = ["read:repository"],
): Promise<RequestContext> =>
  enterRepository(incoming(c), targetOf(c, { owner, name, requirement, scopes }, ending));

/** The same for the pull request of a number, which is loaded with its repository. */
export const enterPullPath = (
  c: Context<WebEnv>,
  owner: string,
  name: string,
  number: number,
): ReturnType<typeof enterPull> => {
  const requirement = { unit: "pulls", mode: "read" } as const;
  const scopes = ["read:repository"] as const;
  return enterPull(incoming(c), targetOf(c, { owner, name, requirement, scopes }), number);
};

/** A repository as the path of a request names it. */
export function targetOf(
  c: Context<WebEnv>,
  named: Pick<RepositoryTarget, "owner" | "name" | "requirement" | "scopes">,
  ending?: string,
): RepositoryTarget {
  const rest = ending ?? `/${requestPath(c.req.url).split("/").slice(3).join("/")}`;
  return {
    ...named,
    anonymous: "by-setting",
    pathAt: (renamed) => `/${renamed.owner.name}/${renamed.row.name}${rest}`,
  };
}
