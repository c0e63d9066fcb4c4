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

import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/** The states of runs, jobs, tasks and steps, in the words of Gitea's API for tasks. */
export const WORK_STATES = [
  /** Waits for jobs that it needs, for its concurrency group, or for an approval. */
  "blocked",
  /** Waits for a runner. */
  "waiting",
  "running",
  "success",
  "failure",
  "cancelled",
  "skipped",
] as const;
export type WorkState = (typeof WORK_STATES)[number];

/** How work ends. */
export type WorkResult = Exclude<WorkState, "blocked" | "waiting" | "running">;

const flag = () => integer({ mode: "boolean" }).notNull();

/**
 * The owner of runners, secrets and variables: a repository, an account, or neither, which is the
 * whole service. Indexes leave out what is null, so that the rows of the service are found by
 * theirs.
 */
const level = () => ({
  repoId: integer().references(() => repositories.id, { onDelete: "cascade" }),
  ownerId: integer().references(() => users.id, { onDelete: "cascade" }),
});

/**
 * The tokens with which runners register, which are shown again: one for each repository and
 * account, and the oldest one of the service.
 */
export const runnerRegistrationTokens = sqliteTable(
  "runner_registration_tokens",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    ...level(),
    /** SHA-256 in hex, by which it is found. */
    tokenHash: text().notNull(),
    /** Sealed. */
    token: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("runner_registration_tokens_hash").on(table.tokenHash),
    uniqueIndex("runner_registration_tokens_owner")
      .on(table.ownerId)
      .where(sql`owner_id is not null`),
    uniqueIndex("runner_registration_tokens_repo")
      .on(table.repoId)
      .where(sql`repo_id is not null`),
    index("runner_registration_tokens_service")
      .on(table.id)
      .where(sql`owner_id is null and repo_id is null`),
  ],
);

/** Programs that run jobs. */
export const runners = sqliteTable(
  "runners",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    uuid: text().notNull(),
    ...level(),
    name: text().notNull(),
    /** SHA-256 of its token in hex: 160 random bits need no slow hash. */
    tokenHash: text().notNull(),
    version: text().notNull().default(""),
    /** Names without their arguments, in the order of the runner. */
    labels: text({ mode: "json" }).$type<readonly string[]>().notNull(),
    /** What newer runners say they can do, such as `cancelling`. */
    capabilities: text({ mode: "json" }).$type<readonly string[]>().notNull().default([]),
    /** Whether it runs one job, and ends with it. */
    isEphemeral: flag().default(false),
    /** Whether it gets no jobs. */
    isDisabled: flag().default(false),
    /** The last request, written at most twice a minute. */
    lastOnlineAt: integer().notNull(),
    /**
     * When the one job of an ephemeral runner ended: nobody sees the runner any more, and it may
     * only repeat what it said of that job. Maintained by a trigger.
     */
    endedAt: integer(),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("runners_uuid").on(table.uuid),
    index("runners_owner").on(table.ownerId, table.id),
    index("runners_repo").on(table.repoId, table.id),
    index("runners_ephemeral")
      .on(table.lastOnlineAt)
      .where(sql`is_ephemeral = 1`),
  ],
);
export type Runner = typeof runners.$inferSelect;

/** Values that jobs get and nobody reads again. */
export const actionSecrets = sqliteTable(
  "action_secrets",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    ...level(),
    /** In upper case. */
    name: text().notNull(),
    /** Sealed. */
    value: text().notNull(),
    description: text().notNull().default(""),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("action_secrets_owner")
      .on(table.ownerId, table.name)
      .where(sql`owner_id is not null`),
    uniqueIndex("action_secrets_repo")
      .on(table.repoId, table.name)
      .where(sql`repo_id is not null`),
    uniqueIndex("action_secrets_service")
      .on(table.name)
      .where(sql`owner_id is null and repo_id is null`),
  ],
);
export type ActionSecret = typeof actionSecrets.$inferSelect;

/** Values that jobs get and everybody who administers their level reads. */
export const actionVariables = sqliteTable(
  "action_variables",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    ...level(),
    /** In upper case. */
    name: text().notNull(),
    value: text().notNull(),
    description: text().notNull().default(""),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("action_variables_owner")
      .on(table.ownerId, table.name)
      .where(sql`owner_id is not null`),
    uniqueIndex("action_variables_repo")
      .on(table.repoId, table.name)
      .where(sql`repo_id is not null`),
    uniqueIndex("action_variables_service")
      .on(table.name)
      .where(sql`owner_id is null and repo_id is null`),
  ],
);
export type ActionVariable = typeof actionVariables.$inferSelect;

/**
 * The workflow files of default branches, as the last push to each branch left them: from here it
 * is known which events start anything, without the repository.
 */
export const workflows = sqliteTable(
  "workflows",
  {
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** The file's name, as in `ci.yml`: with the repository it identifies the workflow. */
    file: text().notNull(),
    /** `.gitea/workflows/ci.yml`. */
    path: text().notNull(),
    /** Its `name`, or the file's. */
    name: text().notNull(),
    /** The names under `on`; none for a file that can't be read. */
    events: text({ mode: "json" }).$type<readonly string[]>().notNull(),
    /** Whether somebody switched it off; kept while the file is away. */
    isDisabled: flag().default(false),
    /** Whether the default branch has the file. */
    isPresent: flag().default(true),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.repoId, table.file] })],
);
export type WorkflowRow = typeof workflows.$inferSelect;

/** The times at which workflows of default branches start, a row for each cron expression. */
export const workflowSchedules = sqliteTable(
  "workflow_schedules",
  {
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    file: text().notNull(),
    cron: text().notNull(),
    /** In milliseconds. */
    nextAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repoId, table.file, table.cron] }),
    index("workflow_schedules_next").on(table.nextAt),
  ],
);

/** Why a workflow file can't be run. */
export interface WorkflowFault {
  readonly message: string;
  /** From 1; undefined for the whole file. */
  readonly line?: number;
  readonly column?: number;
}

/** Runs of workflows, one for each event and file. */
export const workflowRuns = sqliteTable(
  "workflow_runs",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** No foreign key: see `repositoryRemains`. */
    repoId: integer().notNull(),
    /** Counts the runs of the repository, from 1. */
    number: integer().notNull(),
    file: text().notNull(),
    path: text().notNull(),
    /** The workflow's name, and the run's title. */
    name: text().notNull(),
    title: text().notNull(),
    /** The name under `on`, such as `push` or `schedule`. */
    event: text().notNull(),
    /** What makes it one run for each event and file: the event's id, or a random text. */
    cause: text().notNull(),
    /** The full ref, or "" for an event that has none. */
    ref: text().notNull(),
    headOid: text().notNull(),
    /** The short name of the ref; of a pull request, its head branch. */
    headBranch: text().notNull(),
    /** Of pull requests: their number and the short name of the base; null and "" otherwise. */
    pullNumber: integer(),
    baseBranch: text().notNull().default(""),
    /** The repository of a pull request's head; null if it is this one, or gone. */
    headRepoId: integer(),
    /** Who caused it: no foreign key, it may outlive the account; 0 for the schedule. */
    actorId: integer().notNull(),
    /** Whether it runs with the rights of a stranger: the head comes from a fork. */
    isFromFork: flag().default(false),
    /** Whether it waits for somebody who may approve it, and who did. */
    needsApproval: flag().default(false),
    approverId: integer(),
    state: text().$type<WorkState>().notNull(),
    /** The state of which an event was recorded last; "" for none. */
    reportedState: text().$type<WorkState | "">().notNull().default(""),
    /** Of the file; the run has failed then, and has no jobs. */
    faults: text({ mode: "json" }).$type<readonly WorkflowFault[]>().notNull().default([]),
    /** The group whose runs wait for each other; "" for none. */
    concurrencyGroup: text().notNull().default(""),
    cancelsInProgress: flag().default(false),
    /** Grows with each re-run, from 1. */
    attempt: integer().notNull().default(1),
    /** How many runs caused each other by `workflow_run`, up to this one. */
    chainLength: integer().notNull().default(1),
    /** In milliseconds; null before. */
    startedAt: integer(),
    stoppedAt: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /** When the schedule last looked whether something of it was left; 0 for never. */
    checkedAt: integer().notNull().default(0),
    /**
     * The event that workflows read, as JSON. Last, since a row is read up to what is asked for.
     */
    payload: text().notNull(),
  },
  (table) => [
    uniqueIndex("workflow_runs_number").on(table.repoId, table.number),
    uniqueIndex("workflow_runs_cause").on(table.repoId, table.cause, table.file),
    index("workflow_runs_file").on(table.repoId, table.file, table.number),
    index("workflow_runs_state").on(table.repoId, table.state, table.number),
    index("workflow_runs_head").on(table.repoId, table.headOid),
    index("workflow_runs_group")
      .on(table.repoId, table.concurrencyGroup)
      .where(sql`concurrency_group <> '' and state in ('blocked', 'waiting', 'running')`),
    index("workflow_runs_unreported")
      .on(table.updatedAt)
      .where(sql`state <> reported_state`),
    index("workflow_runs_unapproved")
      .on(table.updatedAt)
      .where(sql`needs_approval = 1 and state = 'blocked'`),
    index("workflow_runs_open")
      .on(table.checkedAt)
      .where(sql`state in ('blocked', 'waiting', 'running')`),
  ],
);
export type WorkflowRun = typeof workflowRuns.$inferSelect;

/** What the token of a job may do, for each kind of thing. */
export const JOB_PERMISSIONS = [
  "actions",
  "contents",
  "issues",
  "packages",
  "pull-requests",
  "statuses",
] as const;
export type JobPermissions = Partial<
  Readonly<Record<(typeof JOB_PERMISSIONS)[number], "read" | "write">>
>;

/** The jobs of runs. */
export const workflowJobs = sqliteTable(
  "workflow_jobs",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    runId: integer()
      .notNull()
      .references(() => workflowRuns.id, { onDelete: "cascade" }),
    /** As of the run: no foreign key. */
    repoId: integer().notNull(),
    /** The owner of the repository, copied for the runners of an account; kept by a trigger. */
    ownerId: integer().notNull(),
    /** From 0, in the order of the file. */
    position: integer().notNull(),
    /** Its key in the file: the jobs of a matrix share it. */
    jobId: text().notNull(),
    /** What people see, as in `test (20)`. */
    name: text().notNull(),
    /** Keys of jobs. */
    needs: text({ mode: "json" }).$type<readonly string[]>().notNull(),
    /** Whether it has an `if`, which the runner evaluates also after a failure. */
    hasCondition: flag(),
    /** The labels that its runner must have, in lower case. */
    labels: text({ mode: "json" }).$type<readonly string[]>().notNull(),
    continuesOnError: flag().default(false),
    timeoutMinutes: integer().notNull(),
    permissions: text({ mode: "json" }).$type<JobPermissions>().notNull(),
    /** Maximum jobs of its matrix that run at once, and whether a failed one cancels the others. */
    maxParallel: integer(),
    failsFast: flag().default(true),
    /** The group, or the expression of the group as long as jobs that it needs run; "" for none. */
    concurrencyGroup: text().notNull().default(""),
    isGroupEvaluated: flag().default(true),
    cancelsInProgress: flag().default(false),
    state: text().$type<WorkState>().notNull(),
    /** The state of which an event and a commit status were recorded last; "" for none. */
    reportedState: text().$type<WorkState | "">().notNull().default(""),
    /**
     * Grows with each job of the service that begins to wait, so that a runner knows whether there
     * is something new; 0 before it waits.
     */
    readySequence: integer().notNull().default(0),
    /** Grows with each task, from 0; and the present task. */
    attempt: integer().notNull().default(0),
    taskId: integer(),
    startedAt: integer(),
    stoppedAt: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /** Of its last task, as JSON of names and values. */
    outputs: text({ mode: "json" }).$type<Readonly<Record<string, string>>>().notNull().default({}),
    /**
     * The workflow file that the runner gets: the top of the file with this job alone. Last, since
     * a row is read up to what is asked for.
     */
    payload: text().notNull(),
  },
  (table) => [
    uniqueIndex("workflow_jobs_run").on(table.runId, table.position),
    index("workflow_jobs_repo").on(table.repoId, table.id),
    index("workflow_jobs_ready").on(table.readySequence),
    index("workflow_jobs_owner_ready").on(table.ownerId, table.readySequence),
    index("workflow_jobs_repo_ready").on(table.repoId, table.readySequence),
    index("workflow_jobs_unreported")
      .on(table.updatedAt)
      .where(sql`state <> reported_state`),
    index("workflow_jobs_waiting")
      .on(table.readySequence)
      .where(sql`state = 'waiting'`),
    index("workflow_jobs_owner_waiting")
      .on(table.ownerId, table.readySequence)
      .where(sql`state = 'waiting'`),
    index("workflow_jobs_repo_waiting")
      .on(table.repoId, table.readySequence)
      .where(sql`state = 'waiting'`),
    index("workflow_jobs_group")
      .on(table.repoId, table.concurrencyGroup)
      .where(sql`concurrency_group <> '' and state in ('blocked', 'waiting', 'running')`),
  ],
);
export type WorkflowJob = typeof workflowJobs.$inferSelect;

/** A step of a task; times in milliseconds, rows of the log from 0. */
export interface TaskStep {
  readonly name: string;
  readonly state: WorkState;
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  readonly logIndex: number;
  readonly logLength: number;
}

/** Attempts at jobs, each by one runner. */
export const workflowTasks = sqliteTable(
  "workflow_tasks",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    jobId: integer()
      .notNull()
      .references(() => workflowJobs.id, { onDelete: "cascade" }),
    runId: integer().notNull(),
    /** As of the run: no foreign key. */
    repoId: integer().notNull(),
    attempt: integer().notNull(),
    /** No foreign key: it may outlive the runner. */
    runnerId: integer().notNull(),
    runnerName: text().notNull(),
    state: text().$type<WorkState>().notNull(),
    /** SHA-256 in hex of the job's token in `access_tokens`; a trigger ends it with the task. */
    tokenHash: text().notNull(),
    steps: text({ mode: "json" }).$type<readonly TaskStep[]>().notNull(),
    outputs: text({ mode: "json" }).$type<Readonly<Record<string, string>>>().notNull().default({}),
    /** Rows of the log that were received, bytes that are stored, and pieces stored so far. */
    logRows: integer().notNull().default(0),
    logBytes: integer().notNull().default(0),
    logPieces: integer().notNull().default(0),
    /** Whether nothing is appended to the log any more, and when it was deleted. */
    isLogClosed: flag().default(false),
    logDeletedAt: integer(),
    startedAt: integer().notNull(),
    stoppedAt: integer(),
    /** The last sign of life. */
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("workflow_tasks_token").on(table.tokenHash),
    uniqueIndex("workflow_tasks_attempt").on(table.jobId, table.attempt),
    index("workflow_tasks_repo").on(table.repoId, table.id),
    index("workflow_tasks_of_runner").on(table.runnerId, table.id),
    index("workflow_tasks_runner")
      .on(table.runnerId)
      .where(sql`state = 'running'`),
    index("workflow_tasks_running")
      .on(table.updatedAt)
      .where(sql`state = 'running'`),
    index("workflow_tasks_open_log")
      .on(table.updatedAt)
      .where(sql`is_log_closed = 0 and state <> 'running'`),
    index("workflow_tasks_log")
      .on(table.stoppedAt)
      .where(sql`log_bytes > 0 and log_deleted_at is null`),
  ],
);
export type WorkflowTask = typeof workflowTasks.$inferSelect;

/** The pieces of logs, each a file of the bucket that its task, first row and rows name. */
export const workflowLogPieces = sqliteTable(
  "workflow_log_pieces",
  {
    taskId: integer()
      .notNull()
      .references(() => workflowTasks.id, { onDelete: "cascade" }),
    firstRow: integer().notNull(),
    rowCount: integer().notNull(),
    bytes: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.firstRow] }),
    check("workflow_log_pieces_rows", sql`${table.rowCount} > 0`),
  ],
);

/**
 * Whether the content of an artifact is being received, is kept, or was deleted since it was too
 * old.
 */
export type ArtifactState = "pending" | "ready" | "expired";

/** What jobs store for other jobs and for people. */
export const workflowArtifacts = sqliteTable(
  "workflow_artifacts",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    runId: integer()
      .notNull()
      .references(() => workflowRuns.id, { onDelete: "cascade" }),
    /** As of the run: no foreign key. */
    repoId: integer().notNull(),
    /** The attempt of the run, in which its name is unique. */
    runAttempt: integer().notNull(),
    /** The task that made it. No foreign key: the run bounds its life. */
    taskId: integer().notNull(),
    name: text().notNull(),
    /** Whether it is one file, mostly a zip, without a path; or files with paths. */
    isArchive: flag(),
    mimeType: text().notNull(),
    state: text().$type<ArtifactState>().notNull().default("pending"),
    /** Of its files, unpacked where they are compressed. */
    sizeBytes: integer().notNull().default(0),
    /** In hex; "" for files with paths. */
    sha256: text().notNull().default(""),
    /** Bytes and requests of its upload, also of parts that were replaced. */
    receivedBytes: integer().notNull().default(0),
    receivedCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    expiresAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("workflow_artifacts_name").on(table.runId, table.runAttempt, table.name),
    index("workflow_artifacts_repo").on(table.repoId, table.id),
    index("workflow_artifacts_repo_name").on(table.repoId, table.name, table.id),
    index("workflow_artifacts_expiry")
      .on(table.expiresAt)
      .where(sql`state = 'ready'`),
    index("workflow_artifacts_pending")
      .on(table.updatedAt)
      .where(sql`state = 'pending'`),
  ],
);
export type WorkflowArtifact = typeof workflowArtifacts.$inferSelect;

/** The files of artifacts. */
export const workflowArtifactFiles = sqliteTable(
  "workflow_artifact_files",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    artifactId: integer()
      .notNull()
      .references(() => workflowArtifacts.id, { onDelete: "cascade" }),
    /** "" for the file of an archive. */
    path: text().notNull(),
    /** Whether its bytes are stored compressed, as they were sent. */
    isGzip: flag().default(false),
    /** As stored, and unpacked. */
    storedBytes: integer().notNull().default(0),
    sizeBytes: integer().notNull().default(0),
    /** Whether all its parts are there. */
    isWhole: flag().default(false),
  },
  (table) => [uniqueIndex("workflow_artifact_files_path").on(table.artifactId, table.path)],
);
export type WorkflowArtifactFile = typeof workflowArtifactFiles.$inferSelect;

/** The parts of files of artifacts, each an object of the bucket. */
export const workflowArtifactParts = sqliteTable(
  "workflow_artifact_parts",
  {
    fileId: integer()
      .notNull()
      .references(() => workflowArtifactFiles.id, { onDelete: "cascade" }),
    /** What the client calls it. */
    name: text().notNull(),
    /** Names the object below its artifact. */
    uuid: text().notNull(),
    sizeBytes: integer().notNull(),
    /** Its order in the file; null for a part that is in no list yet. */
    position: integer(),
  },
  (table) => [primaryKey({ columns: [table.fileId, table.name] })],
);
export type WorkflowArtifactPart = typeof workflowArtifactParts.$inferSelect;

/** Tasks and artifacts that are gone, whose files are still in the bucket. Triggers add some. */
export const discardedWork = sqliteTable(
  "discarded_work",
  {
    kind: text().$type<"log" | "artifact">().notNull(),
    /** Of the task, or of the artifact. */
    id: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] })],
);
