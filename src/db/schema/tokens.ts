import { sql } from "drizzle-orm";
import {
  type AnySQLiteColumn,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import type { JobGrants } from "./access.ts";
import { users } from "./accounts.ts";
import { workflowTasks } from "./actions.ts";
import { oauthGrants } from "./oauth.ts";
import { repositories } from "./repositories.ts";

export const accessTokens = sqliteTable(
  "access_tokens",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** SHA-256 of the secret in hex: 160 random bits need no slow hash. */
    secretHash: text().notNull(),
    lastEight: text().notNull(),
    /**
     * Normalised, comma-separated. The column was added after the table: a migration set `all` on
     * the tokens that existed then. Null or empty grants nothing.
     */
    scopes: text(),
    expiresAt: integer(),
    /** Whether the token reaches only the repositories listed in `access_token_repositories`. */
    isBound: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * Patterns of the refs that the token may update; null for all. In the row, so that no request
     * reads more for them.
     */
    boundRefs: text({ mode: "json" }).$type<readonly string[]>(),
    /** Patterns of the paths that commits pushed with the token may change; null for all. */
    boundPaths: text({ mode: "json" }).$type<readonly string[]>(),
    /** Patterns of the packages that the token reaches, as `owner/type/name`; null for all. */
    boundPackages: text({ mode: "json" }).$type<readonly string[]>(),
    createdAt: integer().notNull(),
    lastUsedAt: integer(),
    /**
     * The token that made this one, and with which it ends; null if it was made with a password.
     */
    madeById: integer().references((): AnySQLiteColumn => accessTokens.id, { onDelete: "cascade" }),
    /** The task whose token this is, and with which it ends; null for one that somebody made. */
    taskId: integer().references((): AnySQLiteColumn => workflowTasks.id, { onDelete: "cascade" }),
    /**
     * What the token of a task may do in its repository, as a team would grant it; null for other
     * tokens, which never do more than their user.
     */
    grants: text({ mode: "json" }).$type<JobGrants>(),
    /** The grant whose token this is, and with which it ends; null for a personal token. */
    grantId: integer().references(() => oauthGrants.id, { onDelete: "cascade" }),
    /** The part of the service whose door alone takes the token; null for all doors. */
    audience: text({ enum: ["mcp"] }),
  },
  (table) => [
    uniqueIndex("access_tokens_secret_hash").on(table.secretHash),
    uniqueIndex("access_tokens_name")
      .on(table.userId, table.name)
      .where(sql`grant_id is null`),
    index("access_tokens_user").on(table.userId, table.createdAt),
    index("access_tokens_made_by").on(table.madeById),
    index("access_tokens_grant").on(table.grantId),
    index("access_tokens_task").on(table.taskId),
  ],
);
export type AccessToken = typeof accessTokens.$inferSelect;

/** The repositories that a bound token reaches; a bound token without any reaches none. */
export const accessTokenRepositories = sqliteTable(
  "access_token_repositories",
  {
    tokenId: integer()
      .notNull()
      .references(() => accessTokens.id, { onDelete: "cascade" }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.tokenId, table.repoId] }),
    index("access_token_repositories_repo").on(table.repoId),
  ],
);
