import { z } from "@hono/zod-openapi";

import type { NotificationThread } from "../../shapes/issues/notification-thread.ts";
import { answerList } from "../answer.ts";
import { at } from "../call.ts";
import { cursor, nextPage, number, pageQuery } from "./fields.ts";
import { tool } from "./tool.ts";

export const notificationTools = [
  tool({
    name: "list_notifications",
    description: "List your notifications, unread ones unless all are asked for.",
    effect: "read",
    scopes: ["read:notification"],
    input: z.object({ all: z.boolean().optional(), cursor }),
    async run({ api }, { all, cursor: from }) {
      const page = await api.get<NotificationThread[]>(at`/notifications`, {
        all,
        ...pageQuery(from),
      });
      return answerList({
        noun: "notifications",
        rows: page.body,
        total: page.total,
        cursor: nextPage(from, page),
        line: ({ id, repository, subject, unread, updated_at: at_ }) =>
          `${id} ${unread ? "unread" : "read"} ${repository.full_name} ${subject.type}: ${subject.title}, ${at_}`,
        item: ({ id, subject }) => ({ id, url: subject.html_url }),
      });
    },
  }),
  tool({
    name: "mark_notification_read",
    description: "Mark a notification as read.",
    effect: "write",
    scopes: ["write:notification"],
    input: z.object({ id: number }),
    async run({ api }, { id }) {
      await api.patch(at`/notifications/threads/${id}`, {});
      return { summary: `Notification ${id} is read.`, structured: { id } };
    },
  }),
];
