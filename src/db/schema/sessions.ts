import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";

/** Sign-ins of browsers. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** SHA-256 of the secret in the cookie, in hex. */
    secretHash: text().notNull(),
    /** The `User-Agent` of the sign-in, shortened. */
    userAgent: text().notNull(),
    /** The network of the sign-in; "" where it is not known. */
    network: text().notNull(),
    /** The challenge of a WebAuthn key that is being added; null for none. */
    webauthnChallenge: text(),
    createdAt: integer().notNull(),
    lastUsedAt: integer().notNull(),
    /** When it ends, however often it is used. */
    expiresAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("sessions_secret_hash").on(table.secretHash),
    index("sessions_user").on(table.userId, table.lastUsedAt),
    index("sessions_expiry").on(table.expiresAt),
  ],
);
export type Session = typeof sessions.$inferSelect;

/**
 * Sign-ins whose password was right, and which need a second factor or a new password before a
 * session starts. They are no sessions: no request is authenticated by them.
 */
export const pendingSignIns = sqliteTable(
  "pending_sign_ins",
  {
    /** SHA-256 of the secret in the cookie, in hex. */
    secretHash: text().primaryKey(),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Whether a second factor is still due. */
    needsFactor: integer({ mode: "boolean" }).notNull(),
    webauthnChallenge: text(),
    expiresAt: integer().notNull(),
  },
  (table) => [
    index("pending_sign_ins_user").on(table.userId),
    index("pending_sign_ins_expiry").on(table.expiresAt),
  ],
);
export type PendingSignIn = typeof pendingSignIns.$inferSelect;
