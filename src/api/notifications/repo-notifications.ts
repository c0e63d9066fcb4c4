import { createRoute, z } from "@hono/zod-openapi";

import { listNotifications } from "../../domain/issues/notifications/list-notifications.ts";
import { markNotifications } from "../../domain/issues/notifications/mark-notifications.ts";
import {
  NotificationThread,
  toNotificationThread,
} from "../../shapes/issues/notification-thread.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { pageOf } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { ListQuery, MarkQuery, toListFilter, toMarkFilter } from "./notification-query.ts";

export const repoNotifications = endpoints();

repoNotifications.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/notifications",
    operationId: "notifyGetRepoList",
    tags: ["notification"],
    summary: "List your notifications of a repository",
    middleware: [signedInRepo("read:notification")] as const,
    request: { params: RepoPath, query: ListQuery },
    responses: {
      200: page(z.array(NotificationThread), "The notifications, last updated first"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, user, repo, viewer } = c.var;
    const query = c.req.valid("query");
    const filter = toListFilter({ userId: user.id, repoId: repo.row.id }, query);
    const items = await pageOf(c, query, (slice) => listNotifications(ctx, filter, slice));
    return c.json(
      items.map((each) => toNotificationThread(each, viewer)),
      200,
    );
  },
);

repoNotifications.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/notifications",
    operationId: "notifyReadRepoList",
    tags: ["notification"],
    summary: "Mark your notifications of a repository as read, unread or pinned",
    middleware: [signedInRepo("write:notification")] as const,
    request: { params: RepoPath, query: MarkQuery },
    responses: { 205: empty("The notifications are marked"), ...refusals(400, 401, 403, 404) },
  }),
  async (c) => {
    const { ctx, user, repo } = c.var;
    const query = c.req.valid("query");
    const of = { userId: user.id, repoId: repo.row.id };
    await markNotifications(ctx, toMarkFilter(of, query, ctx.now), query["to-status"]);
    return c.body(null, 205);
  },
);
