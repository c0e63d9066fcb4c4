import { createRoute, z } from "@hono/zod-openapi";

import { hasToggle } from "../../domain/repos/repository/has-toggle.ts";
import { listWatchers } from "../../domain/repos/repository/list-stars-and-watches.ts";
import { createToggle, deleteToggle } from "../../domain/repos/repository/toggle.ts";
import { notFound } from "../../lib/failure.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { WatchInfo, toWatchInfo } from "../../shapes/repos/watch-info.ts";
import { empty, refusals, json, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { RepoPath } from "./paths.ts";

export const subscriptions = endpoints();

subscriptions.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/subscription",
    operationId: "userCurrentCheckSubscription",
    tags: ["repository"],
    summary: "Check whether you watch a repository",
    middleware: [signedInRepo("read:repository")] as const,
    request: { params: RepoPath },
    responses: {
      200: json(WatchInfo, "You watch the repository"),
      ...refusals(401, 403),
      404: { description: "You do not watch the repository, or it is not visible to you" },
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    if (!(await hasToggle(ctx, "watch", user, repo.row))) throw notFound();
    return c.json(toWatchInfo(repo, viewer), 200);
  },
);

subscriptions.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/subscription",
    operationId: "userCurrentPutSubscription",
    tags: ["repository"],
    summary: "Watch a repository",
    middleware: [signedInRepo("write:repository")] as const,
    request: { params: RepoPath },
    responses: {
      200: json(WatchInfo, "You watch the repository"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    await createToggle(ctx, "watch", user, repo.row);
    return c.json(toWatchInfo(repo, viewer), 200);
  },
);

subscriptions.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/subscription",
    operationId: "userCurrentDeleteSubscription",
    tags: ["repository"],
    summary: "Unwatch a repository",
    middleware: [signedInRepo("write:repository")] as const,
    request: { params: RepoPath },
    responses: {
      204: empty("You do not watch the repository"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => done(c, ({ ctx, repo, user }) => deleteToggle(ctx, "watch", user, repo.row)),
);

subscriptions.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/subscribers",
    operationId: "repoListSubscribers",
    tags: ["repository"],
    summary: "List a repository's watchers",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(User), "The users, by id"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => answerPage(c, ({ ctx, repo }, slice) => listWatchers(ctx, repo.row, slice), toUser),
);
