import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { type ProjectPart, repositories } from "./repositories.ts";

/** The services from which whole projects are taken over; any other is read by git alone. */
export const FORGE_SERVICES = ["git", "gitea", "gogs", "github", "gitlab"] as const;
export type ForgeService = (typeof FORGE_SERVICES)[number];

/** How a mirror is doing. */
export type MirrorState =
  /** The last attempt succeeded, or there was none. */
  | "ok"
  /** The last attempts failed: the next one is later than the interval. */
  | "failing"
  /** It failed for days, or lost its approver: it goes on when somebody asks to synchronize it. */
  | "paused";

/** The columns that pull mirrors and push mirrors have in common. */
const mirrorColumns = () => ({
  /** The address of the remote, without credentials. */
  address: text().notNull(),
  username: text().notNull().default(""),
  /** The password or token, sealed; null for none. */
  sealedPassword: text(),
  /**
   * The administrator of the repository who set it up or confirmed it: without the right any more,
   * it is not used.
   */
  approverId: integer().notNull(),
  /** Seconds between two synchronizations; 0 for none by schedule. */
  intervalSeconds: integer().notNull(),
  state: text().$type<MirrorState>().notNull().default("ok"),
  /** Attempts that failed since the last success, and the first of them, in milliseconds. */
  failureCount: integer().notNull().default(0),
  failingSince: integer(),
  /** Why the last attempt failed, without credentials; "" if it succeeded. */
  lastError: text().notNull().default(""),
  /**
   * When the last attempt ended, successful or not, and the last successful one, in milliseconds.
   */
  attemptedAt: integer(),
  syncedAt: integer(),
  /** When the next attempt is due, in milliseconds; null for none. */
  dueAt: integer(),
  /**
   * While a job synchronizes it, in milliseconds; 0 for none. Its holder knows the value that it
   * wrote.
   */
  leasedUntil: integer().notNull().default(0),
  createdAt: integer().notNull(),
});

/** Repositories that follow one elsewhere. Its row exists exactly while `repositories.isMirror`. */
export const pullMirrors = sqliteTable(
  "pull_mirrors",
  {
    repoId: integer()
      .primaryKey()
      .references(() => repositories.id, { onDelete: "cascade" }),
    service: text().$type<ForgeService>().notNull().default("git"),
    ...mirrorColumns(),
    /** Whether refs that the remote has no more are deleted. */
    isPruned: integer({ mode: "boolean" }).notNull().default(true),
    withLargeFiles: integer({ mode: "boolean" }).notNull().default(false),
    /** Whether the wiki of the remote is followed, too. */
    withWiki: integer({ mode: "boolean" }).notNull().default(false),
    /** Where large files come from; "" for the remote's own address. */
    largeFilesUrl: text().notNull().default(""),
    /** The parts that are kept in step besides git. */
    parts: text({ mode: "json" }).$type<ProjectPart[]>().notNull().default([]),
  },
  (table) => [
    index("pull_mirrors_failing")
      .on(table.failingSince)
      .where(sql`${table.failingSince} is not null`),
    index("pull_mirrors_due")
      .on(table.dueAt)
      .where(sql`${table.dueAt} is not null`),
  ],
);
export type PullMirror = typeof pullMirrors.$inferSelect;

/** Remotes that follow a repository here. */
export const pushMirrors = sqliteTable(
  "push_mirrors",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** By which the API names it: random, and unique in the repository. */
    remoteName: text().notNull(),
    ...mirrorColumns(),
    /** Whether each push to the repository is followed at once. */
    syncsOnCommit: integer({ mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    uniqueIndex("push_mirrors_name").on(table.repoId, table.remoteName),
    index("push_mirrors_repo").on(table.repoId, table.id),
    index("push_mirrors_failing")
      .on(table.failingSince)
      .where(sql`${table.failingSince} is not null`),
    index("push_mirrors_due")
      .on(table.dueAt)
      .where(sql`${table.dueAt} is not null`),
  ],
);
export type PushMirror = typeof pushMirrors.$inferSelect;

/** The states of an import. */
export const IMPORT_STATES = [
  /** It is due, or a job works on it. */
  "running",
  /** It waits for the other side: a rate limit, or a failure that may pass. */
  "waiting",
  /** It gave up. It can be continued. */
  "failed",
  /** Somebody ended it. It can be continued. */
  "cancelled",
  "done",
] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

/**
 * The stages of an import, in their order. Stages of parts that are not requested are passed over.
 */
export const IMPORT_STAGES = [
  "git",
  "large_files",
  "project",
  "labels",
  "milestones",
  "issues",
  "pulls",
  "comments",
  "reviews",
  "releases",
  "assets",
  "finish",
] as const;
export type ImportStage = (typeof IMPORT_STAGES)[number];

/**
 * How many items of each stage an import has taken, and how many there are if the other side
 * reports it.
 */
export type ImportProgress = Partial<Record<ImportStage, { done: number; total?: number }>>;

/** The parts of a project that an import takes, and its state beside the stages. */
export interface ImportOptions {
  /** The parts besides git; comments come with issues and pull requests. */
  parts: ProjectPart[];
  withLargeFiles: boolean;
  /** Whether the wiki comes along; undefined for imports that an earlier version began. */
  withWiki?: boolean;
  largeFilesUrl: string;
  /**
   * The accounts that authors with these lower-case names on the other side have here; of an
   * administrator's request only.
   */
  authors: Record<string, number>;
  /**
   * Only what changed there at this time or later, in milliseconds, and what was taken before is
   * synchronized: of mirrors. Undefined for all of it, and only what was not taken before.
   */
  since?: number;
  /** When the present run began to read, in milliseconds: the next one of a mirror begins there. */
  readAt?: number;
  /**
   * Whether it was continued: by then the repository may have what people here made, which stays as
   * it is.
   */
  isRepeat?: boolean;
  /**
   * The names of packs whose blobs were looked through for pointers to large files, and of those
   * that there were when the present run began to look; without these, some file is still to come.
   */
  largeFilePacks?: { done: string[]; begun?: string[] };
  /** How the reader numbers issues, in its own words, once it is decided. */
  numbering?: string;
  /**
   * The stored export that is read, of the service `bundle`: a file that `attachment_loose_files`
   * notes.
   */
  file?: ImportFile;
}

/** A file in the object storage, by which its attachments are known. */
export interface ImportFile {
  readonly uuid: string;
  readonly sizeBytes: number;
}

/** The taking over of projects from elsewhere: one row for each repository that came so. */
export const imports = sqliteTable(
  "imports",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** The account that asked for it; null if it was deleted: then the import ends. */
    doerId: integer().references(() => users.id, { onDelete: "set null" }),
    service: text().$type<ForgeService | "bundle">().notNull(),
    /** The address of the remote, without credentials; "" for an export. */
    address: text().notNull(),
    username: text().notNull().default(""),
    /** The password or token, sealed; null for none. Removed when the import is done. */
    sealedPassword: text(),
    options: text({ mode: "json" }).$type<ImportOptions>().notNull(),
    state: text().$type<ImportState>().notNull().default("running"),
    stage: text().$type<ImportStage>().notNull().default("git"),
    /** Where the stage goes on, in its own words; null at its beginning. */
    cursor: text(),
    progress: text({ mode: "json" }).$type<ImportProgress>().notNull().default({}),
    /** Why it waits or has failed, without credentials; "" otherwise. */
    lastError: text().notNull().default(""),
    /** Notes about items that could not be taken and were left out, at most 100. */
    notes: text({ mode: "json" }).$type<string[]>().notNull().default([]),
    /** Attempts of the present step that failed. */
    failureCount: integer().notNull().default(0),
    /** When its next step is due, in milliseconds; null for none. */
    dueAt: integer(),
    /**
     * While a job works on it, in milliseconds; 0 for none. Its holder knows the value that it
     * wrote.
     */
    leasedUntil: integer().notNull().default(0),
    /**
     * The public URL of the service at its start, for payloads of events: the schedule may not know
     * it.
     */
    rootUrl: text().notNull().default(""),
    createdAt: integer().notNull(),
    finishedAt: integer(),
  },
  (table) => [
    uniqueIndex("imports_repo").on(table.repoId),
    index("imports_doer").on(table.doerId),
    index("imports_stopped")
      .on(table.createdAt)
      .where(sql`${table.lastError} <> ''`),
    index("imports_due")
      .on(table.dueAt)
      .where(sql`${table.dueAt} is not null`),
  ],
);
export type Import = typeof imports.$inferSelect;

/**
 * The answers of a forge to requests of a step of an import that could not end, because of a rate
 * limit or a failure: the next attempt goes on from them instead of asking again. They are gone
 * when the step is done, or the import ends.
 */
export const importAnswers = sqliteTable(
  "import_answers",
  {
    importId: integer()
      .notNull()
      .references(() => imports.id, { onDelete: "cascade" }),
    /** The address that was asked for, without credentials. */
    url: text().notNull(),
    /** JSON in the words of `StepAnswers`. */
    answer: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.importId, table.url] })],
);

/** The items taken over, by their id on the other side, so that nothing is taken twice. */
export const foreignItems = sqliteTable(
  "foreign_items",
  {
    /** No foreign key: see `repositoryRemains`. */
    repoId: integer().notNull(),
    kind: text()
      .$type<
        | "label"
        | "milestone"
        | "issue"
        | "comment"
        | "review"
        | "review_comment"
        | "release"
        | "asset"
      >()
      .notNull(),
    foreignId: text().notNull(),
    /** The row here. It may be deleted: then it is not taken again. */
    localId: integer().notNull(),
    /** The other side's revision of its last change; "" if it has none. */
    revision: text().notNull().default(""),
  },
  (table) => [
    primaryKey({ columns: [table.repoId, table.kind, table.foreignId] }),
    // Whether a row came from elsewhere.
    index("foreign_items_local").on(table.repoId, table.kind, table.localId),
  ],
);
export type ForeignItem = typeof foreignItems.$inferSelect;
