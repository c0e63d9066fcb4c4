import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/**
 * The owner of a hook, and so the events it receives: those of a repository, of all repositories of
 * an account, or all events.
 */
export const HOOK_LEVELS = [
  "repository",
  "organization",
  "user",
  "system",
  /** Receives no events: it is copied to each new repository. */
  "default",
] as const;
export type HookLevel = (typeof HOOK_LEVELS)[number];

/** The kind of receiver, which determines the form of the content. */
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

/** How a chat displays messages. */
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
    /** Set for hooks of a repository only. */
    repoId: integer().references(() => repositories.id, { onDelete: "cascade" }),
    /** The owning account, for hooks of a user or an organization. */
    ownerId: integer().references(() => users.id, { onDelete: "cascade" }),
    /**
     * The account that last set the hook up, 0 for the service itself. The hook receives nothing
     * once that account may no longer administer the hook's owner. It may outlive the account, so
     * it is no foreign key.
     */
    approverId: integer().notNull(),
    type: text().$type<HookType>().notNull(),
    url: text().notNull(),
    contentType: text().$type<HookContentType>().notNull(),
    chat: text({ mode: "json" }).$type<ChatSettings>().notNull(),
    /**
     * Sealed, null for none: the key that signs deliveries, and the `Authorization` header sent
     * with them.
     */
    secret: text(),
    authorization: text(),
    /** A glob; "" for every branch. */
    branchFilter: text().notNull().default(""),
    /** Names of `HOOK_EVENTS`, sorted. */
    events: text({ mode: "json" }).$type<string[]>().notNull(),
    isActive: flag(),
    /** Result of the last delivery. */
    lastStatus: text().$type<"none" | "succeeded" | "failed">().notNull().default("none"),
    lastDeliveredAt: integer(),
    /**
     * Time of the first failure since the last success, and the number of failures since; null and
     * 0 after a success.
     */
    failingSince: integer(),
    failureCount: integer().notNull().default(0),
    /**
     * When the service paused the hook after failures; it receives nothing until it is activated
     * again.
     */
    pausedAt: integer(),
    /**
     * End of the backoff, during which nothing is sent: the receiver requested it, or sends no
     * response.
     */
    backoffUntil: integer(),
    /**
     * End of the lease: one run at a time delivers to a hook, so that it receives events in order.
     */
    leasedUntil: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    index("hooks_repo").on(table.repoId, table.id),
    index("hooks_owner").on(table.ownerId, table.id),
    index("hooks_level").on(table.level, table.id),
    index("hooks_failing")
      .on(table.failingSince)
      .where(sql`${table.failingSince} is not null`),
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

/** State of a delivery: to be sent, accepted by the receiver, or given up. */
export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * Events that were dispatched to hooks. All deliveries of one share its payload, which is built
 * once, at dispatch, and shows the state at that time.
 */
export const webhookEvents = sqliteTable(
  "webhook_events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** The row of `events` that it was dispatched from. */
    eventId: integer().notNull(),
    /** Index among the webhook events of that event: a push of two branches has two. */
    part: integer().notNull(),
    /** A name of `HOOK_EVENTS`. */
    event: text().notNull(),
    /** The repository of the event, which may have been deleted; 0 for an event without one. */
    repoId: integer().notNull(),
    /** The body that hooks of the type gitea receive. */
    payload: text({ mode: "json" }).$type<object>().notNull(),
    createdAt: integer().notNull(),
    /**
     * The archive that has the payload, which is empty then, and the attempts of its deliveries;
     * null while the rows have them.
     */
    archive: text(),
  },
  (table) => [
    index("webhook_events_unarchived")
      .on(table.id)
      .where(sql`${table.archive} is null`),
    // An event may be dispatched twice; the second dispatch inserts nothing.
    uniqueIndex("webhook_events_part").on(table.eventId, table.part),
  ],
);
export type WebhookEventRow = typeof webhookEvents.$inferSelect;

/** Deliveries of webhook events to hooks, kept until the retention sweep. */
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
    /** The id that receivers see, the same on every attempt and redelivery. */
    uuid: text().notNull(),
    /** The event name of the webhook event, for lists by event. */
    event: text().notNull(),
    status: text().$type<DeliveryStatus>().notNull().default("pending"),
    /** Whether it is a test or a redelivery: it is sent even if the hook is inactive. */
    isRequested: integer({ mode: "boolean" }).notNull().default(false),
    attemptCount: integer().notNull().default(0),
    /** When the next attempt is due; null if none is. */
    nextAttemptAt: integer(),
    /**
     * The last attempt, as in the columns that follow. Headers are stored without secrets. Texts
     * are empty if they are archived.
     */
    isArchived: integer({ mode: "boolean" }).notNull().default(false),
    requestUrl: text().notNull().default(""),
    requestHeaders: text({ mode: "json" }).$type<Record<string, string>>(),
    /** The message that a chat was sent; other types receive the payload. */
    requestBody: text(),
    responseStatus: integer(),
    responseHeaders: text({ mode: "json" }).$type<Record<string, string>>(),
    /** The beginning of the body, as text. */
    responseBody: text(),
    /** Why there was no response; "" if there was one. */
    failure: text().notNull().default(""),
    durationMs: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("hook_deliveries_webhook_event").on(table.webhookEventId, table.hookId),
    // The lists of a hook, in the order of ids.
    index("hook_deliveries_hook").on(table.hookId),
    // The few that ended otherwise than most, or have not ended.
    index("hook_deliveries_failed")
      .on(table.hookId)
      .where(sql`${table.status} = 'failed'`),
    index("hook_deliveries_due")
      .on(table.hookId, table.id, table.nextAttemptAt)
      .where(sql`${table.nextAttemptAt} is not null`),
    check("hook_deliveries_status", sql`${table.status} in ('pending', 'succeeded', 'failed')`),
  ],
);
export type HookDelivery = typeof hookDeliveries.$inferSelect;
