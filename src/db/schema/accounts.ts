import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/**
 * The audience of an account: everybody, signed-in users, or only the account itself and its
 * members.
 */
export type Visibility = "public" | "limited" | "private";

/**
 * Which notifications a user also receives by mail: all, those in which they are named, none, or
 * all and those of what they did themselves.
 */
export const EMAIL_NOTIFICATIONS = ["enabled", "onmention", "disabled", "andyourown"] as const;
export type EmailNotifications = (typeof EMAIL_NOTIFICATIONS)[number];

/** Limits of one account; the server's where one is missing, and none where it is -1. */
export interface AccountQuota {
  bytesMax?: number;
  tokenCountMax?: number;
}

/** Users and organizations share one namespace, so they share one table. */
export const users = sqliteTable(
  "users",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text().$type<"user" | "organization">().notNull(),
    name: text().notNull(),
    lowerName: text().notNull(),
    fullName: text().notNull().default(""),
    /** The primary address of a user, the contact address of an organization. */
    email: text().notNull().default(""),
    isEmailHidden: integer({ mode: "boolean" }).notNull().default(false),
    /** A PHC string; null for an account without a password. */
    passwordHash: text(),
    description: text().notNull().default(""),
    website: text().notNull().default(""),
    location: text().notNull().default(""),
    language: text().notNull().default(""),
    theme: text().notNull().default(""),
    diffViewStyle: text().notNull().default("unified"),
    isActivityHidden: integer({ mode: "boolean" }).notNull().default(false),
    emailNotifications: text().$type<EmailNotifications>().notNull().default("enabled"),
    visibility: text().$type<Visibility>().notNull().default("public"),
    isAdmin: integer({ mode: "boolean" }).notNull().default(false),
    isActive: integer({ mode: "boolean" }).notNull().default(true),
    isRestricted: integer({ mode: "boolean" }).notNull().default(false),
    isLoginProhibited: integer({ mode: "boolean" }).notNull().default(false),
    mustChangePassword: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * Whether `totp_secrets` holds an enabled authenticator app, and `webauthn_credentials` any
     * key.
     */
    hasTotp: integer({ mode: "boolean" }).notNull().default(false),
    hasWebauthn: integer({ mode: "boolean" }).notNull().default(false),
    canCreateOrganization: integer({ mode: "boolean" }).notNull().default(true),
    canRepoAdminChangeTeamAccess: integer({ mode: "boolean" }).notNull().default(false),
    /** Maximum number of repositories the account may own; -1 for the server's setting. */
    repoCountMax: integer().notNull().default(-1),
    /** What else the account may have; null for the server's settings. */
    quota: text({ mode: "json" }).$type<AccountQuota>(),
    /**
     * The external authentication source of the account, 0 for this server, and the account's name
     * there.
     */
    loginSourceId: integer().notNull().default(0),
    loginName: text().notNull().default(""),
    followerCount: integer().notNull().default(0),
    followingCount: integer().notNull().default(0),
    starCount: integer().notNull().default(0),
    watchCount: integer().notNull().default(0),
    /**
     * The hash of the uploaded avatar, which is an image of `avatar_images`; "" for the generated
     * one.
     */
    avatarHash: text().notNull().default(""),
    lastLoginAt: integer(),
    /** The last event of the account that retention has deleted; 0 for none. */
    sweptEventId: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("users_lower_name").on(table.lowerName),
    index("users_by_name").on(table.kind, table.visibility, table.lowerName),
    index("users_login_name").on(table.loginName, table.lowerName),
    // Accounts that administrators look for.
    index("users_noted")
      .on(table.lowerName)
      .where(
        sql`${table.isAdmin} = 1 or ${table.isActive} = 0 or ${table.isRestricted} = 1
          or ${table.isLoginProhibited} = 1`,
      ),
    index("users_avatar")
      .on(table.avatarHash)
      .where(sql`${table.avatarHash} <> ''`),
    check("users_kind", sql`${table.kind} in ('user', 'organization')`),
    check("users_visibility", sql`${table.visibility} in ('public', 'limited', 'private')`),
  ],
);
export type User = typeof users.$inferSelect;

export const emailAddresses = sqliteTable(
  "email_addresses",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    email: text().notNull(),
    lowerEmail: text().notNull(),
    isActivated: integer({ mode: "boolean" }).notNull(),
    isPrimary: integer({ mode: "boolean" }).notNull(),
  },
  (table) => [
    uniqueIndex("email_addresses_lower_email").on(table.lowerEmail),
    uniqueIndex("email_addresses_primary")
      .on(table.userId)
      .where(sql`${table.isPrimary} = 1`),
    index("email_addresses_user").on(table.userId),
  ],
);
export type EmailAddress = typeof emailAddresses.$inferSelect;

/** Former names of accounts; a name is deleted from this table when another account takes it. */
export const userRedirects = sqliteTable(
  "user_redirects",
  {
    lowerName: text().primaryKey(),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
  },
  (table) => [index("user_redirects_user").on(table.userId)],
);

export const follows = sqliteTable(
  "follows",
  {
    followerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    followedId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    createdAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.followerId, table.followedId] }),
    index("follows_followed").on(table.followedId, table.followerId),
    check("follows_not_oneself", sql`${table.followerId} <> ${table.followedId}`),
  ],
);

/** Accounts that a user or an organization blocks. */
export const blocks = sqliteTable(
  "blocks",
  {
    blockerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Always a user: organizations can't be blocked. */
    blockedId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Why, for the blocker alone. */
    note: text().notNull().default(""),
    createdAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.blockerId, table.blockedId] }),
    index("blocks_blocked").on(table.blockedId, table.blockerId),
    index("blocks_newest").on(table.blockerId, table.createdAt, table.blockedId),
    check("blocks_not_oneself", sql`${table.blockerId} <> ${table.blockedId}`),
  ],
);

/**
 * Accounts that are being deleted, in steps. Until the last step the account is private, and nobody
 * signs in to it.
 */
export const accountDeletions = sqliteTable(
  "account_deletions",
  {
    accountId: integer()
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    /**
     * Whether repositories, memberships and organizations without another owner are deleted too.
     */
    isPurge: integer({ mode: "boolean" }).notNull(),
    /** The account that asked for it; 0 for the service. */
    requesterId: integer().notNull(),
    /** The visibility that is restored if the account can't be deleted. */
    visibility: text().$type<Visibility>().notNull(),
    isLoginProhibited: integer({ mode: "boolean" }).notNull(),
    /**
     * The public URL of the service at its start, for payloads of events: the schedule may not know
     * it.
     */
    rootUrl: text().notNull(),
    /** While a worker runs its steps, in milliseconds; 0 for none. */
    leasedUntil: integer().notNull().default(0),
    createdAt: integer().notNull(),
  },
  (table) => [index("account_deletions_lease").on(table.leasedUntil, table.accountId)],
);

/** Marks of honor that administrators give to users. */
export const badges = sqliteTable(
  "badges",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    slug: text().notNull(),
    description: text().notNull(),
    imageUrl: text().notNull(),
  },
  (table) => [uniqueIndex("badges_slug").on(table.slug)],
);
export type Badge = typeof badges.$inferSelect;

export const userBadges = sqliteTable(
  "user_badges",
  {
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    badgeId: integer()
      .notNull()
      .references(() => badges.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.badgeId] }),
    index("user_badges_badge").on(table.badgeId),
  ],
);
