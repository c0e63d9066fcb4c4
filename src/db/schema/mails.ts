import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { emailAddresses, users } from "./accounts.ts";
import { issues } from "./issues.ts";

/** The outbox: mails that wait to be sent. A mail is deleted once the platform has accepted it. */
export const mails = sqliteTable(
  "mails",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** The account that the mail is for; null where the address belongs to none. */
    userId: integer().references(() => users.id, { onDelete: "cascade" }),
    /** "" for a notification: it goes to the primary address that the user has when it is sent. */
    address: text().notNull(),
    /**
     * Subject and text as sealed JSON: a mail may contain a link that signs its reader in. "" for a
     * notification, which is written when it is sent, of what its reader may see then.
     */
    sealedContent: text().notNull(),
    /**
     * The issue or pull request that a notification is about, the event that it reports, and why
     * it is sent.
     */
    issueId: integer().references(() => issues.id, { onDelete: "cascade" }),
    eventId: integer(),
    reason: text().$type<MailReason>(),
    attempts: integer().notNull().default(0),
    /** When it is sent, or sent again. */
    dueAt: integer().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    index("mails_due").on(table.dueAt),
    index("mails_user").on(table.userId),
    index("mails_issue")
      .on(table.issueId)
      .where(sql`${table.issueId} is not null`),
    uniqueIndex("mails_event")
      .on(table.eventId, table.userId)
      .where(sql`${table.eventId} is not null`),
  ],
);
/** Why a user receives a notification. */
export type MailReason = "assign" | "mention" | "review_request" | "subscribed";

/**
 * Single-use codes in links that were mailed. A code ends with the address that it was mailed to;
 * triggers on `users` delete it when the password, the primary address or the state of the account
 * changes.
 */
export const mailedCodes = sqliteTable(
  "mailed_codes",
  {
    /** SHA-256 of the code, in hex. */
    codeHash: text().primaryKey(),
    /** The address that the link was sent to, of the account that the code is for. */
    addressId: integer()
      .notNull()
      .references(() => emailAddresses.id, { onDelete: "cascade" }),
    purpose: text().$type<"confirm_address" | "reset_password">().notNull(),
    expiresAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("mailed_codes_address").on(table.addressId, table.purpose),
    index("mailed_codes_expiry").on(table.expiresAt),
    check("mailed_codes_known", sql`${table.purpose} in ('confirm_address', 'reset_password')`),
  ],
);

/** People who registered and have not yet followed the mailed link; the account is created then. */
export const registrations = sqliteTable(
  "registrations",
  {
    /** SHA-256 of the mailed code, in hex. */
    codeHash: text().primaryKey(),
    name: text().notNull(),
    email: text().notNull(),
    passwordHash: text().notNull(),
    expiresAt: integer().notNull(),
  },
  (table) => [index("registrations_expiry").on(table.expiresAt)],
);
