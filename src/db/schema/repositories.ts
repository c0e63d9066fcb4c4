import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
  type AnySQLiteColumn,
} from "drizzle-orm/sqlite-core";

import { users, type Visibility } from "./accounts.ts";

/** How pull requests are merged; clients send and change each field individually. */
export interface PullSettings {
  ignoreWhitespaceConflicts: boolean;
  allowMergeCommits: boolean;
  allowRebase: boolean;
  allowRebaseExplicit: boolean;
  allowSquashMerge: boolean;
  allowFastForwardOnlyMerge: boolean;
  allowRebaseUpdate: boolean;
  allowManualMerge: boolean;
  autodetectManualMerge: boolean;
  defaultDeleteBranchAfterMerge: boolean;
  defaultMergeStyle: MergeStyle;
  defaultAllowMaintainerEdit: boolean;
}
export const MERGE_STYLES = [
  "merge",
  "rebase",
  "rebase-merge",
  "squash",
  "fast-forward-only",
] as const;
export type MergeStyle = (typeof MERGE_STYLES)[number];

/** Where issues are tracked: in this repository, with these rules, or in an external tracker. */
export interface IssueSettings {
  enableTimeTracker: boolean;
  allowOnlyContributorsToTrackTime: boolean;
  enableIssueDependencies: boolean;
  /** Undefined where the repository tracks its own issues. */
  external?: ExternalTracker;
}
export interface ExternalTracker {
  url: string;
  format: string;
  style: string;
  regexpPattern: string;
}

/** The parts of a project besides git, as imports take them and mirrors keep them in step. */
export const PROJECT_PARTS = ["labels", "milestones", "issues", "pulls", "releases"] as const;
export type ProjectPart = (typeof PROJECT_PARTS)[number];

/**
 * Where a repository came from, or still comes from: copied from its import and its mirror for the
 * repository's JSON.
 */
export interface RepositoryOrigin {
  /** The address, without credentials. */
  url: string;
  /** Undefined once the import is done, and for repositories that were not imported. */
  import?: "running" | "waiting" | "failed" | "cancelled";
  /** Of a mirror; times in milliseconds. */
  mirror?: {
    intervalSeconds: number;
    /** The last success; null before the first one. */
    syncedAt: number | null;
    /** Undefined while it succeeds. */
    failure?: { reason: string; since: number; nextAt: number | null; isPaused: boolean };
    /** The parts besides git that it keeps in step, and that nobody changes here. */
    parts: ProjectPart[];
  };
}

/** What becomes of a repository at its end. */
export const EXPIRY_ACTIONS = ["delete", "archive"] as const;

/** The end of a repository. Times are in milliseconds. */
export interface RepositoryExpiry {
  expiresAt: number;
  action: (typeof EXPIRY_ACTIONS)[number];
  /** How long after a push the end is at least; null if pushes do not move it. */
  extensionMs: number | null;
  /** When the schedule looks at it next: to announce the end, then to carry it out. */
  checkAt: number;
}

const flag = () => integer({ mode: "boolean" }).notNull();

export const repositories = sqliteTable(
  "repositories",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    ownerId: integer()
      .notNull()
      .references(() => users.id),
    /**
     * The owner's lower-case name, copied so that one index serves "by owner, then name".
     * Maintained by a trigger.
     */
    ownerLowerName: text().notNull().default(""),
    name: text().notNull(),
    lowerName: text().notNull(),
    description: text().notNull().default(""),
    website: text().notNull().default(""),
    isPrivate: flag(),
    /** Private if `isPrivate`, else the owner's visibility. Maintained by a trigger. */
    visibility: text().$type<Visibility>().notNull().default("private"),
    /** Null for a repository that does not end. */
    expiry: text({ mode: "json" }).$type<RepositoryExpiry>(),
    /** The names of its topics, copied from `repository_topics` for the repository's JSON. */
    topics: text({ mode: "json" }).$type<string[]>().notNull().default([]),
    /** The last detected main language and licenses, the latter as SPDX ids. */
    language: text().notNull().default(""),
    licenses: text({ mode: "json" }).$type<string[]>().notNull().default([]),
    isTemplate: flag().default(false),
    isMirror: flag().default(false),
    /** Null for a repository that was made here. */
    origin: text({ mode: "json" }).$type<RepositoryOrigin>(),
    isEmpty: flag().default(true),
    archivedAt: integer(),
    parentId: integer().references((): AnySQLiteColumn => repositories.id, {
      onDelete: "set null",
    }),
    isFork: flag().default(false),
    /** The name of the Durable Object that holds its refs: never reused, and not a secret. */
    objectName: text().notNull().default(""),
    /**
     * The fork network whose packs it shares; a repository that is not a fork starts a network
     * named after its object, unless it shares the packs of its template.
     */
    networkName: text().notNull().default(""),
    defaultBranch: text().notNull(),
    trustModel: text().notNull().default("default"),
    /** Total size of its packs. */
    sizeBytes: integer().notNull().default(0),
    /** Total size of its LFS files. */
    lfsSizeBytes: integer().notNull().default(0),
    starCount: integer().notNull().default(0),
    forkCount: integer().notNull().default(0),
    watcherCount: integer().notNull().default(0),
    /** The number of the last issue or pull request. */
    lastIssueNumber: integer().notNull().default(0),
    /** Maintained by triggers. */
    openIssueCount: integer().notNull().default(0),
    closedIssueCount: integer().notNull().default(0),
    openPullCount: integer().notNull().default(0),
    closedPullCount: integer().notNull().default(0),
    releaseCount: integer().notNull().default(0),
    hasCode: flag().default(true),
    hasIssues: flag().default(true),
    hasPullRequests: flag().default(true),
    hasReleases: flag().default(true),
    hasWiki: flag().default(true),
    hasProjects: flag().default(true),
    hasPackages: flag().default(true),
    hasActions: flag().default(true),
    projectsMode: text().$type<"repo" | "owner" | "all">().notNull().default("all"),
    externalWikiUrl: text().notNull().default(""),
    /** The branch of the wiki's git data whose pages are shown; "" until the first push to it. */
    wikiBranch: text().notNull().default(""),
    /** Total size of the wiki's packs. */
    wikiSizeBytes: integer().notNull().default(0),
    pullSettings: text({ mode: "json" }).$type<PullSettings>().notNull(),
    issueSettings: text({ mode: "json" }).$type<IssueSettings>().notNull(),
    /** The hash of the uploaded avatar, which is an image of `avatar_images`; "" for none. */
    avatarHash: text().notNull().default(""),
    /** The last event that retention has deleted; 0 for none. */
    sweptEventId: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("repositories_owner_name").on(table.ownerId, table.lowerName),
    index("repositories_owner").on(table.ownerId),
    // Repositories that members of an organization see without a team.
    index("repositories_internal")
      .on(table.ownerId, table.visibility)
      .where(sql`not ${table.isPrivate}`),
    // One index for each order of the search; every search filters by visibility first.
    index("repositories_by_name").on(table.visibility, table.ownerLowerName, table.lowerName),
    index("repositories_by_short_name").on(table.visibility, table.lowerName),
    index("repositories_by_created").on(table.visibility, table.createdAt),
    index("repositories_by_updated").on(table.visibility, table.updatedAt),
    index("repositories_by_size").on(table.visibility, table.sizeBytes),
    index("repositories_by_lfs_size").on(table.visibility, table.lfsSizeBytes),
    index("repositories_by_total_size").on(
      table.visibility,
      sql`(${table.sizeBytes} + ${table.lfsSizeBytes})`,
    ),
    index("repositories_by_stars").on(table.visibility, table.starCount),
    index("repositories_by_forks").on(table.visibility, table.forkCount),
    index("repositories_parent").on(table.parentId),
    // An owner has at most one fork of a repository.
    uniqueIndex("repositories_fork")
      .on(table.ownerId, table.parentId)
      .where(sql`${table.parentId} is not null`),
    uniqueIndex("repositories_object")
      .on(table.objectName)
      .where(sql`${table.objectName} <> ''`),
    index("repositories_network").on(table.networkName, table.id),
    index("repositories_avatar")
      .on(table.avatarHash)
      .where(sql`${table.avatarHash} <> ''`),
    // The few that end, in the order in which the schedule looks at them.
    index("repositories_expiring")
      .on(sql`${table.expiry} ->> '$.checkAt'`)
      .where(sql`${table.expiry} is not null`),
    check("repositories_visibility", sql`${table.visibility} in ('public', 'limited', 'private')`),
    check(
      "repositories_some_unit",
      sql.join(
        [
          table.hasCode,
          table.hasIssues,
          table.hasPullRequests,
          table.hasReleases,
          table.hasWiki,
          table.hasProjects,
          table.hasPackages,
          table.hasActions,
        ],
        sql` or `,
      ),
    ),
  ],
);
export type Repository = typeof repositories.$inferSelect;

/**
 * Repositories that share the packs of a network and belong to another family of forks than the one
 * that started it: one that was generated from a template, and its forks.
 */
export const forkFamilies = sqliteTable("fork_families", {
  repoId: integer()
    .primaryKey()
    .references(() => repositories.id, { onDelete: "cascade" }),
  /** The object of the repository that was generated. */
  rootName: text().notNull(),
});

/**
 * Git data that no repository refers to any more and that is due for removal. Maintained by a
 * trigger.
 */
export const discardedObjects = sqliteTable("discarded_objects", {
  objectName: text().primaryKey(),
  networkName: text().notNull(),
  discardedAt: integer().notNull(),
});

/**
 * The number of repositories of each visibility, so that a total needs no count. Maintained by
 * triggers.
 */
export const repositoryTotals = sqliteTable("repository_totals", {
  visibility: text().$type<Visibility>().primaryKey(),
  count: integer().notNull(),
});

/** Former names of repositories, with the owner under which the name was used. */
export const repositoryRedirects = sqliteTable(
  "repository_redirects",
  {
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    lowerName: text().notNull(),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.ownerId, table.lowerName] }),
    index("repository_redirects_repo").on(table.repoId),
  ],
);

export const collaborations = sqliteTable(
  "collaborations",
  {
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    access: integer().$type<1 | 2 | 3>().notNull(),
    createdAt: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.repoId, table.userId] }),
    index("collaborations_user").on(table.userId, table.repoId),
    index("collaborations_oldest").on(table.repoId, table.createdAt, table.userId),
  ],
);

/** Repositories offered to an account that has not accepted them yet. */
export const repositoryTransfers = sqliteTable(
  "repository_transfers",
  {
    repoId: integer()
      .primaryKey()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** The user who offers it. */
    doerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** The user or organization that is to own it. */
    recipientId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** The recipient's teams that are to reach it. */
    teamIds: text({ mode: "json" }).$type<readonly number[]>().notNull().default([]),
    createdAt: integer().notNull(),
  },
  (table) => [
    index("repository_transfers_recipient").on(table.recipientId, table.repoId),
    index("repository_transfers_doer").on(table.doerId),
  ],
);
export type RepositoryTransfer = typeof repositoryTransfers.$inferSelect;

/**
 * Deleted repositories whose issues, labels, milestones and notifications are not all removed yet.
 *
 * A repository may have millions of such rows, more than one statement of D1 deletes: they have no
 * foreign key to it and go in steps. Until then no query finds them, since all join the repository.
 * Triggers insert the row when a repository is deleted, and refuse new rows without a repository.
 */
export const repositoryRemains = sqliteTable("repository_remains", {
  repoId: integer().primaryKey(),
});

/** A table of stars or watches: at most one row for each user and repository. */
function toggleTable<Name extends string>(name: Name) {
  return sqliteTable(
    name,
    {
      userId: integer()
        .notNull()
        .references(() => users.id, { onDelete: "cascade" }),
      repoId: integer()
        .notNull()
        .references(() => repositories.id, { onDelete: "cascade" }),
      /**
       * The repository's visibility, copied so that a total can exclude hidden repositories.
       * Maintained by a trigger.
       */
      visibility: text().$type<Visibility>().notNull(),
      createdAt: integer().notNull(),
    },
    (table) => [
      primaryKey({ columns: [table.userId, table.repoId] }),
      index(`${name}_newest`).on(table.userId, table.createdAt, table.repoId),
      index(`${name}_not_public`)
        .on(table.userId)
        .where(sql`${table.visibility} <> 'public'`),
      index(`${name}_repo`).on(table.repoId, table.userId),
    ],
  );
}
export const stars = toggleTable("stars");
export const watches = toggleTable("watches");
