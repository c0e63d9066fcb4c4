import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/** What someone may do, as a number that can be compared: a stored value, never renumbered. */
export const ACCESS = { none: 0, read: 1, write: 2, admin: 3, owner: 4 } as const;
export type Access = (typeof ACCESS)[keyof typeof ACCESS];

export const organizationMembers = sqliteTable(
  "organization_members",
  {
    orgId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Whether outsiders see the membership. */
    isPublic: integer({ mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.userId] }),
    index("organization_members_user").on(table.userId, table.orgId),
  ],
);

export const teams = sqliteTable(
  "teams",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    orgId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    name: text().notNull(),
    lowerName: text().notNull(),
    description: text().notNull().default(""),
    access: integer().$type<Access>().notNull(),
    includesAllRepositories: integer({ mode: "boolean" }).notNull().default(false),
    canCreateOrgRepo: integer({ mode: "boolean" }).notNull().default(false),
    createdAt: integer().notNull(),
  },
  (table) => [uniqueIndex("teams_lower_name").on(table.orgId, table.lowerName)],
);
export type Team = typeof teams.$inferSelect;

export const teamMembers = sqliteTable(
  "team_members",
  {
    teamId: integer()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.userId] }),
    index("team_members_user").on(table.userId, table.teamId),
  ],
);

export const teamRepositories = sqliteTable(
  "team_repositories",
  {
    teamId: integer()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.repoId] }),
    index("team_repositories_repo").on(table.repoId),
  ],
);
