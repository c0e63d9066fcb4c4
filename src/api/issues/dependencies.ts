import { createRoute, z } from "@hono/zod-openapi";

import { addDependency } from "../../domain/issues/dependencies/add-dependency.ts";
import { findPair } from "../../domain/issues/dependencies/find-pair.ts";
import {
  listWaiting,
  listDependencies,
} from "../../domain/issues/dependencies/list-dependencies.ts";
import { removeDependency } from "../../domain/issues/dependencies/remove-dependency.ts";
import { Dependency, toDependency } from "../../shapes/issues/dependency.ts";
import { Issue, toIssue } from "../../shapes/issues/issue.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { body } from "../json-body.ts";
import { Paging } from "../paging.ts";
import { IssuePath } from "./paths.ts";

export const dependencies = endpoints();

const NAME_MAX = 255;

// All are needed to name an issue: without one nothing is found, as in Gitea.
const OtherIssue = body({
  owner: z.string().max(NAME_MAX).default(""),
  repo: z.string().max(NAME_MAX).default(""),
  index: z.int().default(0).openapi({ description: "Number of the issue or pull request" }),
}).openapi("IssueMeta", { description: "An issue or pull request of any repository" });

const blockedByPath = "/repos/{owner}/{repo}/issues/{index}/dependencies";
const blocksPath = "/repos/{owner}/{repo}/issues/{index}/blocks";

dependencies.openapi(
  createRoute({
    method: "get",
    path: blockedByPath,
    operationId: "issueListIssueDependencies",
    tags: ["issue"],
    summary: "List the issues that block an issue",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath, query: Paging },
    responses: {
      200: page(
        z.array(Dependency),
        "The issues, those of the same repository first, then the newest first",
      ),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listDependencies(ctx, repo, c.req.valid("param").index, slice),
      toDependency,
    ),
);

dependencies.openapi(
  createRoute({
    method: "post",
    path: blockedByPath,
    operationId: "issueCreateIssueDependencies",
    tags: ["issue"],
    summary: "Make an issue depend on another one",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(OtherIssue, "The issue that blocks it") },
    },
    responses: {
      201: json(Issue, "The issue of the path"),
      ...refusals(400, 401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index } = c.req.valid("param");
    const { issue, other } = await findPair(ctx, repo, index, c.req.valid("json"));
    const changed = await addDependency(ctx, { blocked: issue, blocker: other }, issue);
    return c.json(toIssue(changed, viewer), 201);
  },
);

dependencies.openapi(
  createRoute({
    method: "delete",
    path: blockedByPath,
    operationId: "issueRemoveIssueDependencies",
    tags: ["issue"],
    summary: "Remove a dependency of an issue",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(OtherIssue, "The issue that blocks it") },
    },
    responses: {
      201: json(Issue, "The issue of the path"),
      ...refusals(400, 401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index } = c.req.valid("param");
    const { issue, other } = await findPair(ctx, repo, index, c.req.valid("json"));
    const changed = await removeDependency(ctx, { blocked: issue, blocker: other }, issue);
    return c.json(toIssue(changed, viewer), 201);
  },
);

dependencies.openapi(
  createRoute({
    method: "get",
    path: blocksPath,
    operationId: "issueListBlocks",
    tags: ["issue"],
    summary: "List the issues that an issue blocks",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath, query: Paging },
    responses: {
      200: page(
        z.array(Issue),
        "The issues that the caller may see, those of the same repository first, then the newest first",
      ),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listWaiting(ctx, repo, c.req.valid("param").index, slice),
      toIssue,
    ),
);

dependencies.openapi(
  createRoute({
    method: "post",
    path: blocksPath,
    operationId: "issueCreateIssueBlocking",
    tags: ["issue"],
    summary: "Make another issue depend on an issue",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(OtherIssue, "The issue that it blocks") },
    },
    responses: {
      201: json(Issue, "The issue of the path"),
      ...refusals(400, 401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index } = c.req.valid("param");
    const { issue, other } = await findPair(ctx, repo, index, c.req.valid("json"));
    const changed = await addDependency(ctx, { blocked: other, blocker: issue }, issue);
    return c.json(toIssue(changed, viewer), 201);
  },
);

dependencies.openapi(
  createRoute({
    method: "delete",
    path: blocksPath,
    operationId: "issueRemoveIssueBlocking",
    tags: ["issue"],
    summary: "Remove the dependency of another issue on an issue",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(OtherIssue, "The issue that it blocks") },
    },
    responses: {
      201: json(Issue, "The issue of the path"),
      ...refusals(400, 401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index } = c.req.valid("param");
    const { issue, other } = await findPair(ctx, repo, index, c.req.valid("json"));
    const changed = await removeDependency(ctx, { blocked: other, blocker: issue }, issue);
    return c.json(toIssue(changed, viewer), 201);
  },
);
