import { createRoute, z } from "@hono/zod-openapi";

import { listIssues } from "../../domain/issues/lists/list-issues.ts";
import type { PersonFilter } from "../../domain/issues/lists/issue-query.ts";
import { Issue, toIssue } from "../../shapes/issues/issue.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { pageOf } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { IssueListQuery, readFilter } from "./list-query.ts";

export const issueLists = endpoints();

const user = (description: string) => z.string().max(255).default("").openapi({ description });

const ListQuery = IssueListQuery.extend({
  created_by: user("Only issues that this user opened"),
  assigned_by: user("Only issues that are assigned to this user"),
  mentioned_by: user("Only issues that mention this user"),
});

issueLists.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues",
    operationId: "issueListIssues",
    tags: ["issue"],
    summary: "List a repository's issues and pull requests",
    middleware: [inRepo("read:issue")] as const,
    request: { params: RepoPath, query: ListQuery },
    responses: { 200: page(z.array(Issue), "The issues"), ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const query = c.req.valid("query");
    const filter = readFilter(query, ctx.actor.user?.name);
    const named: readonly PersonFilter[] = [
      { role: "poster", name: query.created_by },
      { role: "assignee", name: query.assigned_by },
      { role: "mentioned", name: query.mentioned_by },
    ];
    const requiredPeople = named.filter(({ name }) => name !== "");
    const items = await pageOf(c, query, (slice) =>
      listIssues(ctx, repo, { filter, requiredPeople }, slice),
    );
    return c.json(
      items.map((issue) => toIssue(issue, viewer)),
      200,
    );
  },
);
