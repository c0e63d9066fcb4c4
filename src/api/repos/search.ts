import { createRoute, z } from "@hono/zod-openapi";

import { SORTS, searchRepositories } from "../../domain/repos/repository/search-repositories.ts";
import { Failure, invalid } from "../../lib/failure.ts";
import { logBug } from "../../lib/log.ts";
import { toRepository } from "../../shapes/repos/repository.ts";
import { SearchError, SearchResults } from "../../shapes/repos/search-results.ts";
import { countAnonymousAction } from "../../entrance/count-action.ts";
import { refusals, json, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";
import { Paging, setPageHeaders, queryFlag, queryId, readPage } from "../paging.ts";

export const repositorySearch = endpoints();

const choice = (description: string) => z.string().max(64).default("").openapi({ description });

const SearchQuery = Paging.extend({
  q: z
    .string()
    .max(255)
    .default("")
    .openapi({ description: "Part of the name or of `owner/name`" }),
  uid: queryId("Only repositories that the account with this id owns or has access to"),
  exclusive: queryFlag("With uid: only repositories that the account owns"),
  priority_owner_id: queryId("List the repositories of the account with this id first"),
  team_id: queryId("Only repositories of the team with this id"),
  starredBy: queryId("Only repositories that the user with this id has starred"),
  topic: queryFlag("Match q against topics"),
  includeDesc: queryFlag("Search descriptions too"),
  private: queryFlag("Include private repositories; the default is true"),
  is_private: queryFlag("Only private repositories if true, no private repositories if false"),
  template: queryFlag("Only templates if true, no templates if false"),
  archived: queryFlag("Only archived repositories if true, no archived repositories if false"),
  mode: choice("The kind of repository: fork, source, mirror or collaborative"),
  sort: choice(`The sort key: one of ${Object.keys(SORTS).join(", ")}`),
  order: choice("The sort order: asc or desc"),
});

repositorySearch.openapi(
  createRoute({
    method: "get",
    path: "/repos/search",
    operationId: "repoSearch",
    tags: ["repository"],
    summary: "Search repositories",
    middleware: [anyone("read:repository")] as const,
    request: { query: SearchQuery },
    responses: {
      200: page(SearchResults, "The matching repositories"),
      ...refusals(401, 403, 422),
      500: json(SearchError, "The search failed"),
    },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const query = c.req.valid("query");
    await countAnonymousAction(c, "ANONYMOUS_SEARCHES");
    const slice = readPage(ctx.config, query, ctx.config.searchPageSizeMax);
    try {
      const { items, total } = await searchRepositories(
        ctx,
        {
          text: query.q.trim(),
          isTopic: query.topic ?? false,
          isDescriptionSearched: query.includeDesc ?? false,
          ownerId: query.uid,
          isExclusive: query.exclusive ?? false,
          reachedById: undefined,
          priorityOwnerId: query.priority_owner_id,
          teamId: query.team_id,
          starredById: query.starredBy,
          isPrivate: query.private === false ? false : query.is_private,
          isTemplate: query.template,
          isArchived: query.archived,
          language: undefined,
          mode: oneOf(["fork", "source", "mirror", "collaborative"], query.mode, "search mode"),
          sort:
            oneOf(Object.keys(SORTS) as (keyof typeof SORTS)[], query.sort, "sort mode") ?? "alpha",
          // As in Gitea, an order means something only with what is ordered.
          isDescending:
            query.sort !== "" && oneOf(["asc", "desc"], query.order, "sort order") === "desc",
        },
        slice,
      );
      setPageHeaders(c, slice, total);
      return c.json({ ok: true, data: items.map((repo) => toRepository(repo, viewer)) }, 200);
    } catch (error) {
      if (error instanceof Failure) throw error;
      logBug(c.var.requestId, error);
      return c.json(
        { ok: false as const, error: `internal error, request ${c.var.requestId}` },
        500,
      );
    }
  },
);

/** SECURITY: allows listed values only, so that no caller can sort or filter by a hidden column. */
function oneOf<T extends string>(allowed: readonly T[], text: string, what: string): T | undefined {
  if (text === "") return undefined;
  const found = allowed.find((each) => each === text);
  if (!found) throw invalid(`Invalid ${what}: ${JSON.stringify(text)}`);
  return found;
}
