import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/** Whose events a hook gets: a repository's, those of all repositories of an account, or all. */
export const HOOK_LEVELS = [
  "repository",
  "organization",
  "user",
  "system",
  /** Gets none: it is copied to each new repository. */
  "default",
] as const;
export type HookLevel = (typeof HOOK_LEVELS)[number];

/** Who is told, and so in which form. */
export const HOOK_TYPES = [
  "gitea",
  "gogs",
  "slack",
  "discord",
  "msteams",
  "telegram",
  "feishu",
  "matrix",
] as const;
export type HookType = (typeof HOOK_TYPES)[number];

export const HOOK_CONTENT_TYPES = ["json", "form"] as const;
export type HookContentType = (typeof HOOK_CONTENT_TYPES)[number];

/** How a chat shows what it is told. */
export interface ChatSettings {
  channel?: string;
  username?: string;
  iconUrl?: string;
  color?: string;
}

const flag = () => integer({ mode: "boolean" }).notNull();

export const hooks = sqliteTable(
  "hooks",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    level: text().$type<HookLevel>().notNull(),
    /** Of a repository's hook only. */
    repoId: integer().references(() => repositories.id, { onDelete: "cascade" }),
    /** The user or organization whose hook it is. */
    ownerId: integer().references(() => users.id, { onDelete: "cascade" }),
    /**
     * Who last set it up, 0 for the service itself. It gets nothing once they may not do so any more.
     * It may outlive the account, so it refers to none.
     */
    approverId: integer().notNull(),
    type: text().$type<HookType>().notNull(),
    url: text().notNull(),
    contentType: text().$type<HookContentType>().notNull(),
    chat: text({ mode: "json" }).$type<ChatSettings>().notNull(),
    /** Sealed, null for none: what signs deliveries, and the `Authorization` header that goes with them. */
    secret: text(),
    authorization: text(),
    /** A glob; "" for every branch. */
    branchFilter: text().notNull().default(""),
    /** Names of `HOOK_EVENTS`, sorted. */
    events: text({ mode: "json" }).$type<string[]>().notNull(),
    isActive: flag(),
    /** How the last delivery ended. */
    lastStatus: text().$type<"none" | "succeeded" | "failed">().notNull().default("none"),
    lastDeliveredAt: integer(),
    /** Since when no attempt has succeeded, and how many there were; null and 0 where the last one did. */
    failingSince: integer(),
    failureCount: integer().notNull().default(0),
    /** When it was given up; it gets nothing until somebody activates it again. */
    pausedAt: integer(),
    /** Until when nothing is sent: its receiver asked for it, or does not answer. */
    backoffUntil: integer(),
    /** Until when somebody delivers to it: one at a time does, so that it hears things in their order. */
    leasedUntil: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    index("hooks_repo").on(table.repoId, table.id),
    index("hooks_owner").on(table.ownerId, table.id),
    index("hooks_level").on(table.level, table.id),
    check(
      "hooks_level",
      sql`${table.level} in ('repository', 'organization', 'user', 'system', 'default')`,
    ),
    check("hooks_repository", sql`(${table.level} = 'repository') = (${table.repoId} is not null)`),
    check(
      "hooks_account",
      sql`(${table.level} in ('organization', 'user')) = (${table.ownerId} is not null)`,
    ),
  ],
);
export type Hook = typeof hooks.$inferSelect;

/** How far a delivery is: to be sent, received, or given up. */
export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * What hooks are told of something that happened. All of them share its payload: it is read once, when
 * it is handed out, and tells of things as they were then.
 */
export const webhookEvents = sqliteTable(
  "webhook_events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** The row of `events` it tells of. */
    eventId: integer().notNull(),
    /** Which of the announcements of that event, from 0: a push of two branches makes two. */
    part: integer().notNull(),
    /** A name of `HOOK_EVENTS`. */
    event: text().notNull(),
    /** Where it happened. What it speaks of may be gone. */
    repoId: integer().notNull(),
    /** The body that hooks of the type gitea are sent. */
    payload: text({ mode: "json" }).$type<object>().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    // An event may be handed out twice: the second time adds nothing.
    uniqueIndex("webhook_events_part").on(table.eventId, table.part),
  ],
);
export type WebhookEventRow = typeof webhookEvents.$inferSelect;

/** What one hook is told, kept until the retention sweeps it. */
export const hookDeliveries = sqliteTable(
  "hook_deliveries",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    hookId: integer()
      .notNull()
      .references(() => hooks.id, { onDelete: "cascade" }),
    webhookEventId: integer()
      .notNull()
      .references(() => webhookEvents.id),
    /** What receivers know it by, the same on every attempt and redelivery. */
    uuid: text().notNull(),
    /** That of the announcement, to list by. */
    event: text().notNull(),
    status: text().$type<DeliveryStatus>().notNull().default("pending"),
    /** Whether somebody asked for it, by a test or once more: it is sent even if the hook is not active. */
    isRequested: integer({ mode: "boolean" }).notNull().default(false),
    attemptCount: integer().notNull().default(0),
    /** When it is to be sent, null where it is not to be. */
    nextAttemptAt: integer(),
    /** Of the last attempt, as is all that follows. Secrets are left out of the headers. */
    requestUrl: text().notNull().default(""),
    requestHeaders: text({ mode: "json" }).$type<Record<string, string>>(),
    /** The message that a chat was sent; other types are sent the payload. */
    requestBody: text(),
    responseStatus: integer(),
    responseHeaders: text({ mode: "json" }).$type<Record<string, string>>(),
    /** Its beginning, as text. */
    responseBody: text(),
    /** Why there was no answer, "" where there was one. */
    failure: text().notNull().default(""),
    durationMs: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("hook_deliveries_webhook_event").on(table.hookId, table.webhookEventId),
    index("hook_deliveries_of_webhook_event").on(table.webhookEventId),
    index("hook_deliveries_by_status").on(table.hookId, table.status, table.id),
    index("hook_deliveries_by_event").on(table.hookId, table.event, table.id),
    index("hook_deliveries_due")
      .on(table.hookId, table.nextAttemptAt)
      .where(sql`${table.nextAttemptAt} is not null`),
    check("hook_deliveries_status", sql`${table.status} in ('pending', 'succeeded', 'failed')`),
  ],
);
export type HookDelivery = typeof hookDeliveries.$inferSelect;
