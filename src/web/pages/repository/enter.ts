import type { Context } from "hono";

import type { Requirement } from "../../../auth/access/requirement.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Scope } from "../../../auth/scope.ts";
import type { RepositoryInsightsRow } from "../../../db/schema/index.ts";
import type { ReaderFacts } from "../../../domain/repos/repository/reader-facts.ts";
import { enterPullForReader } from "../../../entrance/enter-pull.ts";
import {
  enterNetworkForReader,
  enterRepositoryForReader,
  enterRulesForReader,
  type RelativeName,
  type RepositoryTarget,
} from "../../../entrance/enter-repository.ts";
import { notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { targetOf } from "../../enter-repository-path.ts";
import type { WebEnv } from "../../env.ts";
import { type Page, readerRequest, toPublicPage } from "../open-page.ts";

/** The request of a page of a repository, with its reader. */
export interface EnteredRepository extends Page {
  readonly repo: RepositoryContext;
  readonly facts: ReaderFacts;
  /** The stored insights into the code, if the page shows them and there are any. */
  readonly insights?: RepositoryInsightsRow | undefined;
}

/** The permission for the issues of a repository. */
export const READ_ISSUES: Requirement = { unit: "issues", mode: "read" };

/** The permission for the pull requests of a repository. */
export const READ_PULLS: Requirement = { unit: "pulls", mode: "read" };

/** The permission for the wiki of a repository. */
export const READ_WIKI: Requirement = { unit: "wiki", mode: "read" };

/** The permission for the runs of workflows. */
export const READ_ACTIONS: Requirement = { unit: "actions", mode: "read" };

/** The permission for pages about files and history. */
export const READ_CODE: Requirement = { unit: "code", mode: "read" };

/**
 * Enters the repository of a page's path, `/:owner/:repo/…`, for the reader of the page.
 *
 * Cost: one round trip of the database.
 *
 * @param scopes What a form of the page changes; nothing for a page that is read.
 * @param options.whileMigrating Whether a form may change a repository that is being migrated.
 * @param options.showsInsights Whether the stored insights into the code are loaded.
 * @param options.showsRules Whether the rules of branches and tags are loaded.
 * @throws Failure as `enterRepository` does.
 */
export async function enterRepositoryPage(
  c: Context<WebEnv>,
  requirement: Requirement,
  scopes: readonly Scope[] = [],
  options: Pick<RepositoryTarget, "showsInsights" | "showsRules" | "whileMigrating"> = {},
): Promise<EnteredRepository> {
  const { owner = "", repo: name = "" } = c.req.param() as Record<string, string>;
  const target = { ...targetOf(c, { owner, name, requirement, scopes }), ...options };
  const enter = options.showsRules ? enterRulesForReader : enterRepositoryForReader;
  const { ctx, repo, facts, unreadCount, insights } = await enter(readerRequest(c), target);
  return { ...(await toPublicPage(c, ctx, unreadCount)), repo, facts, insights };
}

/** The request of a page of a repository and of others of its fork network. */
export interface EnteredNetwork extends EnteredRepository {
  readonly relatives: readonly RepositoryContext[];
}

/**
 * Enters the repository of a page's path as `enterRepositoryPage` does, and those of its fork
 * network that `relative` names, if the path names any.
 *
 * Cost: one round trip of the database.
 */
export async function enterNetworkPage(
  c: Context<WebEnv>,
  requirement: Requirement,
  relative: RelativeName | undefined,
): Promise<EnteredNetwork> {
  if (!relative) return { ...(await enterRepositoryPage(c, requirement)), relatives: [] };
  const { owner = "", repo: name = "" } = c.req.param() as Record<string, string>;
  const target = targetOf(c, { owner, name, requirement, scopes: [] });
  const entered = await enterNetworkForReader(readerRequest(c), target, relative);
  const { ctx, repo, facts, relatives, unreadCount } = entered;
  return { ...(await toPublicPage(c, ctx, unreadCount)), repo, facts, relatives };
}

/** The request of a page of a pull request. */
export interface EnteredPull extends EnteredRepository {
  readonly pull: PullContext;
}

/**
 * Enters the repository and the pull request of a page's path, `/:owner/:repo/pulls/:number/…`.
 *
 * Cost: one round trip of the database.
 *
 * @param scopes As in `enterRepositoryPage`.
 */
export async function enterPullPage(
  c: Context<WebEnv>,
  scopes: readonly Scope[] = [],
): Promise<EnteredPull> {
  const { owner = "", repo: name = "", number = "" } = c.req.param() as Record<string, string>;
  const target = targetOf(c, { owner, name, requirement: READ_PULLS, scopes });
  const entered = await enterPullForReader(readerRequest(c), target, Number(number));
  const { ctx, repo, facts, pull, unreadCount } = entered;
  if (!isUnitOn(repo.row, "pulls")) throw notFound();
  return { ...(await toPublicPage(c, ctx, unreadCount)), repo, facts, pull };
}
