import type { Context } from "hono";

import type { Requirement } from "../../../auth/access/requirement.ts";
import type { Scope } from "../../../auth/scope.ts";
import type { ReaderFacts } from "../../../domain/repos/repository/reader-facts.ts";
import { enterRepositoryForReader } from "../../../entrance/enter-repository.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { targetOf } from "../../enter-repository-path.ts";
import type { WebEnv } from "../../env.ts";
import { type Page, readerRequest, toPublicPage } from "../open-page.ts";

/** The request of a page of a repository, with its reader. */
export interface EnteredRepository extends Page {
  readonly repo: RepositoryContext;
  readonly facts: ReaderFacts;
}

/** The permission for pages about files and history. */
export const READ_CODE: Requirement = { unit: "code", mode: "read" };

/**
 * Enters the repository of a page's path, `/:owner/:repo/…`, for the reader of the page.
 *
 * Cost: one round trip of the database.
 *
 * @param scopes What a form of the page changes; nothing for a page that is read.
 * @throws Failure as `enterRepository` does.
 */
export async function enterRepositoryPage(
  c: Context<WebEnv>,
  requirement: Requirement,
  scopes: readonly Scope[] = [],
): Promise<EnteredRepository> {
  const { owner = "", repo: name = "" } = c.req.param() as Record<string, string>;
  const target = targetOf(c, { owner, name, requirement, scopes });
  const { ctx, repo, facts } = await enterRepositoryForReader(readerRequest(c), target);
  return { ...(await toPublicPage(c, ctx)), repo, facts };
}
