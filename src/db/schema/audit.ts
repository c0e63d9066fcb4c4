import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The audit log: who changed what, from where. A row outlives the accounts and the repository that
 * it names, so it has no foreign keys, and it keeps the names that they had.
 */
export const auditEvents = sqliteTable(
  "audit_events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text().notNull(),
    /** The user who acted; 0 for an anonymous caller and for the service. */
    actorId: integer().notNull(),
    actorName: text().notNull(),
    /** The administrator who acted as the actor; null if nobody did. */
    sudoerId: integer(),
    sudoerName: text().notNull().default(""),
    /** How the actor had signed in, and the access token, if it was one. */
    credential: text().notNull(),
    tokenId: integer(),
    /** The user or organization that the entry belongs to; 0 for the service. */
    ownerId: integer().notNull(),
    ownerName: text().notNull(),
    /** The user whom the change concerns, where it is not the owner. */
    userId: integer(),
    userName: text().notNull().default(""),
    repoId: integer(),
    /** The repository as owner/name; "" for none. */
    repoName: text().notNull().default(""),
    /** The name of the thing that changed, such as a token, a key or a team. */
    target: text().notNull().default(""),
    details: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    /**
     * The client's address; null where nobody trustworthy states it, and for work of the service.
     */
    address: text(),
    /** The id of the request, as in `X-Request-Id` and in the log; "" for work of the service. */
    requestId: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    index("audit_events_owner").on(table.ownerId, table.id),
    index("audit_events_actor").on(table.actorId, table.id),
    index("audit_events_user")
      .on(table.userId, table.id)
      .where(sql`${table.userId} is not null`),
    index("audit_events_kind").on(table.kind, table.id),
    // Times begin a list, and end a row's retention.
    index("audit_events_time").on(table.createdAt, table.id),
    // Whether an account has signed in from an address lately.
    index("audit_events_sign_in")
      .on(table.actorId, table.createdAt)
      .where(sql`${table.kind} in ('sign_in.succeeded', 'sign_in.refused')`),
  ],
);
export type AuditRow = typeof auditEvents.$inferSelect;
