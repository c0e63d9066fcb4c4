import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";

/** Authenticator apps (TOTP), one for each user. `users.has_totp` repeats whether it is enabled. */
export const totpSecrets = sqliteTable("totp_secrets", {
  userId: integer()
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  sealedSecret: text().notNull(),
  /** Whether a first code was entered: before that, sign-ins need none. */
  isEnabled: integer({ mode: "boolean" }).notNull(),
  /**
   * The time step of the last accepted code: no code of this step or an earlier one is accepted
   * again.
   */
  lastStep: integer().notNull().default(0),
  createdAt: integer().notNull(),
});

/** Codes that replace a lost authenticator app or key; a code is deleted when it is used. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    codeHash: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
);

/** WebAuthn keys. `users.has_webauthn` repeats whether a user has any. */
export const webauthnCredentials = sqliteTable(
  "webauthn_credentials",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** The key's own id, base64url. */
    credentialId: text().notNull(),
    /** COSE key, base64url. */
    publicKey: text().notNull(),
    /** The key's signature counter; 0 for keys that do not count. */
    counter: integer().notNull(),
    /** JSON list of WebAuthn's transports. */
    transports: text().notNull(),
    createdAt: integer().notNull(),
    lastUsedAt: integer(),
  },
  (table) => [
    uniqueIndex("webauthn_credentials_credential_id").on(table.credentialId),
    index("webauthn_credentials_user").on(table.userId, table.createdAt),
  ],
);
export type WebauthnCredential = typeof webauthnCredentials.$inferSelect;
