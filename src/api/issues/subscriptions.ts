import { createRoute, z } from "@hono/zod-openapi";

import {
  changeSubscription,
  findSubscription,
  listSubscribers,
} from "../../domain/issues/notifications/issue-subscriptions.ts";
import { toIssueWatchInfo } from "../../shapes/issues/issue-watch-info.ts";
import { WatchInfo } from "../../shapes/repos/watch-info.ts";
import { toUser, User } from "../../shapes/users/user.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { IssuePath } from "./paths.ts";

export const issueSubscriptions = endpoints();

issueSubscriptions.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions",
    operationId: "issueSubscriptions",
    tags: ["issue"],
    summary: "List the users who subscribed to an issue",
    description:
      "Watchers of the repository and participants, who are notified without a subscription, are not listed.",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath, query: Paging },
    responses: { 200: page(z.array(User), "The users, by id"), ...refusals(401, 403, 404) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listSubscribers(ctx, repo, c.req.valid("param").index, slice),
      toUser,
    ),
);

issueSubscriptions.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions/check",
    operationId: "issueCheckSubscription",
    tags: ["issue"],
    summary: "Check whether you are subscribed to an issue",
    middleware: [signedInRepo("read:issue")] as const,
    request: { params: IssuePath },
    responses: {
      200: json(
        WatchInfo,
        "Whether you are subscribed: as you chose, otherwise as a watcher or participant",
      ),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    const { index } = c.req.valid("param");
    const { issue, isSubscribed } = await findSubscription(ctx, repo, index, user);
    return c.json(toIssueWatchInfo({ repo, row: issue }, isSubscribed, viewer), 200);
  },
);

const SubscriberPath = IssuePath.extend({
  user: z
    .string()
    .openapi({ description: "Name of the user; your own unless you administer the site" }),
});

issueSubscriptions.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}",
    operationId: "issueAddSubscription",
    tags: ["issue"],
    summary: "Subscribe a user to an issue",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: SubscriberPath },
    responses: {
      200: empty("The user was subscribed before"),
      201: empty("The user is subscribed"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { index, user: name } = c.req.valid("param");
    const isChanged = await changeSubscription(ctx, repo, index, { name, isSubscribed: true });
    return c.body(null, isChanged ? 201 : 200);
  },
);

issueSubscriptions.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}",
    operationId: "issueDeleteSubscription",
    tags: ["issue"],
    summary: "Unsubscribe a user from an issue",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: SubscriberPath },
    responses: {
      200: empty("The user was not subscribed before"),
      201: empty(
        "The user is unsubscribed, and only notified where somebody mentions or assigns them",
      ),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { index, user: name } = c.req.valid("param");
    const isChanged = await changeSubscription(ctx, repo, index, { name, isSubscribed: false });
    return c.body(null, isChanged ? 201 : 200);
  },
);
