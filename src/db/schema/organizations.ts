import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import type { Access, TeamUnits } from "./access.ts";
import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

export const organizationMembers = sqliteTable(
  "organization_members",
  {
    orgId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Whether people outside the organization see the membership. */
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
    /** The mode granted in every unit if `admin` or `owner`; otherwise `units` decide. */
    access: integer().$type<Access>().notNull(),
    units: text({ mode: "json" }).$type<TeamUnits>().notNull().default({}),
    includesAllRepositories: integer({ mode: "boolean" }).notNull().default(false),
    canCreateOrgRepo: integer({ mode: "boolean" }).notNull().default(false),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("teams_lower_name").on(table.orgId, table.lowerName),
    // The teams that reach a repository are those that name it, and these.
    index("teams_of_all_repositories")
      .on(table.orgId)
      .where(sql`${table.includesAllRepositories}`),
  ],
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
