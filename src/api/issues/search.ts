import { createRoute, z } from "@hono/zod-openapi";

import type { PersonFilter } from "../../domain/issues/lists/issue-query.ts";
import { searchIssues } from "../../domain/issues/lists/search-issues.ts";
import { malformed } from "../../lib/failure.ts";
import { Issue, toIssue } from "../../shapes/issues/issue.ts";
import { page, refusals } from "../answers.ts";
import { countAnonymousAction } from "../../entrance/count-action.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";
import { pageOf, queryFlag, queryId } from "../paging.ts";
import { IssueListQuery, readFilter } from "./list-query.ts";

export const issueSearch = endpoints();

const name = (description: string) => z.string().max(255).default("").openapi({ description });

const SearchQuery = IssueListQuery.extend({
  priority_repo_id: queryId("List the issues of the repository with this id first"),
  assigned: queryFlag("Only issues that are assigned to the caller"),
  created: queryFlag("Only issues that the caller opened"),
  mentioned: queryFlag("Only issues that mention the caller"),
  review_requested: queryFlag("Only pull requests whose review was requested from the caller"),
  reviewed: queryFlag("Only pull requests that the caller reviewed"),
  owner: name("Only issues in repositories of this user or organization"),
  team: name("Only issues in repositories of this team; requires the organization as the owner"),
});

/** Size of a page that the query does not set; Gitea has another one here than in lists. */
const PAGE_SIZE = 20;

issueSearch.openapi(
  createRoute({
    method: "get",
    path: "/repos/issues/search",
    operationId: "issueSearchIssues",
    tags: ["issue"],
    summary: "Search issues and pull requests of all repositories",
    middleware: [anyone("read:issue")] as const,
    request: { query: SearchQuery },
    responses: { 200: page(z.array(Issue), "The issues"), ...refusals(400, 401, 403, 422, 429) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const query = c.req.valid("query");
    await countAnonymousAction(c, "ANONYMOUS_SEARCHES");
    if (query.team !== "" && query.owner === "") {
      throw malformed("Owner organisation is required for filtering on team");
    }
    const { user } = ctx.actor;
    const filter = readFilter(query, user?.name);
    const own: readonly (readonly [boolean | undefined, PersonFilter["role"]])[] = [
      [query.created, "poster"],
      [query.assigned, "assignee"],
      [query.mentioned, "mentioned"],
      [query.review_requested, "review_requested"],
      [query.reviewed, "reviewed"],
    ];
    const people = own.flatMap(([isAsked, role]) =>
      isAsked && user ? [{ role, name: user.name }] : [],
    );
    const search = {
      filter: filter && { ...filter, people: [...people, ...filter.people] },
      scope: { owner: query.owner || undefined, team: query.team || undefined },
      priorityRepoId: query.priority_repo_id,
    };
    const paging = { ...query, limit: query.limit > 0 ? query.limit : PAGE_SIZE };
    const items = await pageOf(c, paging, (slice) => searchIssues(ctx, search, slice));
    return c.json(
      items.map((issue) => toIssue(issue, viewer)),
      200,
    );
  },
);
