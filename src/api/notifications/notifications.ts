import { createRoute, z } from "@hono/zod-openapi";

import { findNotification } from "../../domain/issues/notifications/find-notification.ts";
import {
  countNotifications,
  listNotifications,
} from "../../domain/issues/notifications/list-notifications.ts";
import {
  markNotification,
  markNotifications,
} from "../../domain/issues/notifications/mark-notifications.ts";
import { NOTIFICATION_SUBJECTS } from "../../domain/issues/notifications/notification-filter.ts";
import {
  NotificationCount,
  NotificationThread,
  toNotificationThread,
} from "../../shapes/issues/notification-thread.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { pageOf } from "../paging.ts";
import { PathId } from "../path-id.ts";
import {
  ListQuery,
  MarkQuery,
  toListFilter,
  toMarkFilter,
  toStatusQuery,
} from "./notification-query.ts";

export const notifications = endpoints();

notifications.openapi(
  createRoute({
    method: "get",
    path: "/notifications",
    operationId: "notifyGetList",
    tags: ["notification"],
    summary: "List your notifications",
    description: "Those of repositories that you may no longer see are left out.",
    middleware: [signedIn("read:notification")] as const,
    request: { query: ListQuery },
    responses: {
      200: page(z.array(NotificationThread), "The notifications, last updated first"),
      ...refusals(401, 403, 422),
    },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const query = c.req.valid("query");
    const filter = toListFilter({ userId: user.id }, query);
    const items = await pageOf(c, query, (slice) => listNotifications(ctx, filter, slice));
    return c.json(
      items.map((each) => toNotificationThread(each, viewer)),
      200,
    );
  },
);

notifications.openapi(
  createRoute({
    method: "put",
    path: "/notifications",
    operationId: "notifyReadList",
    tags: ["notification"],
    summary: "Mark your notifications as read, unread or pinned",
    middleware: [signedIn("write:notification")] as const,
    request: { query: MarkQuery },
    responses: { 205: empty("The notifications are marked"), ...refusals(400, 401, 403) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const query = c.req.valid("query");
    await markNotifications(
      ctx,
      toMarkFilter({ userId: user.id }, query, ctx.now),
      query["to-status"],
    );
    return c.body(null, 205);
  },
);

notifications.openapi(
  createRoute({
    method: "get",
    path: "/notifications/new",
    operationId: "notifyNewAvailable",
    tags: ["notification"],
    summary: "Count your unread notifications",
    middleware: [signedIn("read:notification")] as const,
    responses: {
      200: json(NotificationCount, "The number of unread notifications that you may see"),
      ...refusals(401, 403),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const count = await countNotifications(ctx, {
      userId: user.id,
      statuses: ["unread"],
      subjects: NOTIFICATION_SUBJECTS,
    });
    return c.json({ new: count }, 200);
  },
);

const ThreadPath = z.object({ id: PathId.openapi({ description: "Id of the notification" }) });

notifications.openapi(
  createRoute({
    method: "get",
    path: "/notifications/threads/{id}",
    operationId: "notifyGetThread",
    tags: ["notification"],
    summary: "Get a notification",
    middleware: [signedIn("read:notification")] as const,
    request: { params: ThreadPath },
    responses: { 200: json(NotificationThread, "The notification"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const found = await findNotification(ctx, c.req.valid("param").id);
    return c.json(toNotificationThread(found, viewer), 200);
  },
);

notifications.openapi(
  createRoute({
    method: "patch",
    path: "/notifications/threads/{id}",
    operationId: "notifyReadThread",
    tags: ["notification"],
    summary: "Mark a notification as read, unread or pinned",
    middleware: [signedIn("write:notification")] as const,
    request: { params: ThreadPath, query: z.object({ "to-status": toStatusQuery }) },
    responses: { 205: empty("The notification is marked"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { row } = await findNotification(ctx, c.req.valid("param").id);
    await markNotification(ctx, row, c.req.valid("query")["to-status"]);
    return c.body(null, 205);
  },
);
