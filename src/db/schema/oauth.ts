import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/** Applications that may ask users for access to their accounts: the clients of OAuth 2.0. */
export const oauthApplications = sqliteTable(
  "oauth_applications",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** Null for the service's own clients, which a migration inserts, and for those nobody owns. */
    ownerId: integer().references(() => users.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /**
     * How the service knows the client: a person or a migration registered it, it registered itself
     * (RFC 7591), or its id is the URL of a document about it.
     */
    registration: text({ enum: ["manual", "dynamic", "document"] })
      .notNull()
      .default("manual"),
    /** A UUID, or the URL of a document. */
    clientId: text().notNull(),
    /** SHA-256 of the secret in hex; null where nobody knows a secret. */
    secretHash: text(),
    /**
     * Whether the client keeps its secret, and must prove it. Otherwise it is public and must use
     * PKCE.
     */
    isConfidential: integer({ mode: "boolean" }).notNull(),
    /** Whether users who granted access once are not asked again, for a public client, too. */
    skipsConsent: integer({ mode: "boolean" }).notNull().default(false),
    redirectUris: text({ mode: "json" }).$type<string[]>().notNull(),
    createdAt: integer().notNull(),
    /** Until when the copy of a document is used; null for other applications. */
    freshUntil: integer(),
    /**
     * When an application that no person registered is removed, unless somebody has granted it
     * access by then; null for others.
     */
    expiresAt: integer(),
  },
  (table) => [
    uniqueIndex("oauth_applications_client_id").on(table.clientId),
    index("oauth_applications_expiry")
      .on(table.expiresAt)
      .where(sql`expires_at is not null`),
    index("oauth_applications_owner").on(table.ownerId, table.id),
  ],
);
export type OauthApplication = typeof oauthApplications.$inferSelect;

/**
 * The grants of users to applications: one row for each authorization. It begins with a code; the
 * client exchanges the code for an access token and a refresh token, and the row lives as long as
 * the refresh token of the day. Its access tokens are rows of `access_tokens`, which end with it.
 */
export const oauthGrants = sqliteTable(
  "oauth_grants",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    applicationId: integer()
      .notNull()
      .references(() => oauthApplications.id, { onDelete: "cascade" }),
    /** Scopes of its access tokens, normalised and comma-separated; "" grants none. */
    scopes: text().notNull(),
    /** Scopes of OpenID Connect, in order and comma-separated. */
    identityScopes: text().notNull(),
    /** The part of the service that its tokens are for; null for all of it. */
    audience: text({ enum: ["mcp"] }),
    /** The only repository that its tokens reach; null for all that the user does. */
    repoId: integer().references(() => repositories.id, { onDelete: "cascade" }),
    /**
     * SHA-256 of the code in hex. It stays after the exchange, so that a second use is recognized.
     */
    codeHash: text().notNull(),
    codeExpiresAt: integer().notNull(),
    /**
     * The redirect URI of the authorization request, which the exchange must repeat; null if it
     * named none.
     */
    redirectUri: text(),
    /**
     * The registered address that the code was sent to; null for a code that an earlier version
     * issued.
     */
    sentTo: text(),
    /** The S256 code challenge of PKCE. */
    codeChallenge: text(),
    nonce: text(),
    /** When the user signed in to the session in which they granted access. */
    authenticatedAt: integer().notNull(),
    /** When the code was exchanged; null before. */
    exchangedAt: integer(),
    /** SHA-256 of the part that all refresh tokens of the grant share. */
    familyHash: text(),
    /** SHA-256 of the only refresh token that is valid. */
    refreshHash: text(),
    createdAt: integer().notNull(),
    /** When tokens were issued last. */
    lastUsedAt: integer().notNull(),
    /** The end of the code or of the refresh token. */
    expiresAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("oauth_grants_code").on(table.codeHash),
    uniqueIndex("oauth_grants_family").on(table.familyHash),
    index("oauth_grants_user").on(table.userId, table.applicationId),
    index("oauth_grants_application").on(table.applicationId),
    index("oauth_grants_expiry").on(table.expiresAt),
    index("oauth_grants_repo")
      .on(table.repoId)
      .where(sql`repo_id is not null`),
  ],
);
export type OauthGrant = typeof oauthGrants.$inferSelect;
