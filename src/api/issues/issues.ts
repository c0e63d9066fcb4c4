import { createRoute } from "@hono/zod-openapi";

import { findIssue } from "../../domain/issues/find-issue.ts";
import { Issue, toIssue } from "../../shapes/issues/issue.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { IssuePath } from "./paths.ts";

export const issues = endpoints();

issues.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}",
    operationId: "issueGetIssue",
    tags: ["issue"],
    summary: "Get an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath },
    responses: { 200: json(Issue, "The issue"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toIssue(await findIssue(ctx, repo, c.req.valid("param").index), viewer), 200);
  },
);
