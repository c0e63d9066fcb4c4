import { createRoute, z } from "@hono/zod-openapi";

import { searchTopics } from "../../domain/repos/topics/search-topics.ts";
import { addTopic, removeTopic, setTopics } from "../../domain/repos/topics/set-topics.ts";
import { ApiError } from "../../shapes/failure.ts";
import { TopicName, TopicResponse, toTopic } from "../../shapes/repos/topic.ts";
import { countAnonymousAction } from "../../entrance/count-action.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { body } from "../json-body.ts";
import { pageOf, Paging, readPageOrAll } from "../paging.ts";
import { RepoPath } from "./paths.ts";

/** The error response that lists the invalid topics. */
const invalidTopics = json(
  ApiError.extend({ invalidTopics: z.array(z.string()).optional() }),
  "Invalid topics, or too many topics",
);

const RepoTopicOptions = body({
  topics: z
    .array(z.string())
    .default([])
    .openapi({ description: "All topics that the repository should have" }),
}).openapi("RepoTopicOptions");

const TopicPath = RepoPath.extend({
  topic: z.string().openapi({ description: "The topic's name" }),
});

export const topics = endpoints();

topics.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/topics",
    operationId: "repoListTopics",
    tags: ["repository"],
    summary: "List a repository's topics",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: { 200: page(TopicName, "The topics, by name"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const all = c.var.repo.row.topics;
    const items = await pageOf(
      c,
      c.req.valid("query"),
      async ({ offset, size }) => ({ items: all.slice(offset, offset + size), total: all.length }),
      readPageOrAll,
    );
    return c.json({ topics: items }, 200);
  },
);

topics.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/topics",
    operationId: "repoUpdateTopics",
    tags: ["repository"],
    summary: "Replace a repository's topics",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(RepoTopicOptions, "The topics") },
    },
    responses: {
      204: empty("The topics were replaced"),
      ...refusals(401, 403, 404),
      422: invalidTopics,
    },
  }),
  (c) => done(c, ({ ctx, repo }) => setTopics(ctx, repo, c.req.valid("json").topics)),
);

topics.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/topics/{topic}",
    operationId: "repoAddTopic",
    tags: ["repository"],
    summary: "Add a topic to a repository",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: TopicPath },
    responses: {
      204: empty("The repository has the topic"),
      ...refusals(401, 403, 404),
      422: invalidTopics,
    },
  }),
  (c) => done(c, ({ ctx, repo }) => addTopic(ctx, repo, c.req.valid("param").topic)),
);

topics.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/topics/{topic}",
    operationId: "repoDeleteTopic",
    tags: ["repository"],
    summary: "Remove a topic from a repository",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: TopicPath },
    responses: {
      204: empty("The repository does not have the topic"),
      ...refusals(401, 403, 404),
      422: invalidTopics,
    },
  }),
  (c) => done(c, ({ ctx, repo }) => removeTopic(ctx, repo, c.req.valid("param").topic)),
);

topics.openapi(
  createRoute({
    method: "get",
    path: "/topics/search",
    operationId: "topicSearch",
    tags: ["repository"],
    summary: "Search topics of public repositories",
    middleware: [anyone("read:repository")] as const,
    request: {
      query: Paging.extend({
        q: z.string().max(255).default("").openapi({ description: "Part of the name" }),
      }),
    },
    responses: {
      200: page(
        z.object({ topics: z.array(TopicResponse) }).openapi("TopicListResponse"),
        "The topics, by number of repositories, the largest first",
      ),
      ...refusals(401, 403, 422),
    },
  }),
  async (c) => {
    const { ctx } = c.var;
    const query = c.req.valid("query");
    await countAnonymousAction(c, "ANONYMOUS_SEARCHES");
    const items = await pageOf(c, query, (slice) => searchTopics(ctx, query.q, slice));
    return c.json({ topics: items.map(toTopic) }, 200);
  },
);
