import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { sql } from "drizzle-orm";

import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/** SSH keys: a user's key where `repoId` is null, else a deploy key of that repository. */
export const publicKeys = sqliteTable(
  "public_keys",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /**
     * The user who added the key; a deploy key authenticates as its repository, not as this user.
     */
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    repoId: integer().references(() => repositories.id, { onDelete: "cascade" }),
    title: text().notNull(),
    /** One line: type, base64, comment. */
    content: text().notNull(),
    /** `SHA256:` and unpadded base64, as ssh-keygen prints it. */
    fingerprint: text().notNull(),
    isReadOnly: integer({ mode: "boolean" }).notNull().default(false),
    createdAt: integer().notNull(),
    lastUsedAt: integer(),
  },
  (table) => [
    // A key authenticates either one account or any number of repositories, one row each, never
    // both.
    uniqueIndex("public_keys_user_fingerprint")
      .on(table.fingerprint)
      .where(sql`${table.repoId} is null`),
    uniqueIndex("public_keys_deploy_fingerprint")
      .on(table.repoId, table.fingerprint)
      .where(sql`${table.repoId} is not null`),
    uniqueIndex("public_keys_deploy_title")
      .on(table.repoId, table.title)
      .where(sql`${table.repoId} is not null`),
    index("public_keys_fingerprint").on(table.fingerprint),
    index("public_keys_user").on(table.userId, table.id),
  ],
);
export type PublicKey = typeof publicKeys.$inferSelect;

/** OpenPGP keys and their subkeys. */
export const gpgKeys = sqliteTable(
  "gpg_keys",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** The id of the key that this one is a subkey of; empty for a primary key. */
    primaryKeyId: text().notNull().default(""),
    /** 16 upper-case hex digits. */
    keyId: text().notNull(),
    fingerprint: text().notNull(),
    /** The key packet alone, in base64. */
    publicKey: text().notNull(),
    /** The complete armored block, on the primary key only. */
    armored: text().notNull().default(""),
    emails: text({ mode: "json" }).$type<string[]>().notNull(),
    canSign: integer({ mode: "boolean" }).notNull(),
    canCertify: integer({ mode: "boolean" }).notNull(),
    canEncryptComms: integer({ mode: "boolean" }).notNull(),
    canEncryptStorage: integer({ mode: "boolean" }).notNull(),
    /** Whether the user proved possession of the private key by signing a token. */
    isProven: integer({ mode: "boolean" }).notNull().default(false),
    isRevoked: integer({ mode: "boolean" }).notNull().default(false),
    createdAt: integer().notNull(),
    expiresAt: integer(),
    addedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("gpg_keys_user_key").on(table.userId, table.keyId),
    index("gpg_keys_key").on(table.keyId),
    index("gpg_keys_user").on(table.userId, table.primaryKeyId, table.id),
  ],
);
export type GpgKey = typeof gpgKeys.$inferSelect;
