import { and, eq, inArray, lte, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Import, imports, type ImportStage } from "../../../db/schema/index.ts";
import { Failure } from "../../../lib/failure.ts";
import { logBug } from "../../../lib/log.ts";
import { JobLease } from "../remotes/job-lease.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import { endImport, finishImport, waitWithImport } from "./end-import.ts";
import { toFailureWords } from "./failure-words.ts";
import { ImportJob, LeaseLost } from "./import-job.ts";
import { findImportToAdvance, type OpenedImport, openSource } from "./open-import.ts";
import { importAssets } from "./stages/assets-stage.ts";
import { importGit } from "./stages/git-stage.ts";
import {
  importComments,
  importIssues,
  importLabels,
  importMilestones,
  importReleases,
  importReviews,
} from "./stages/item-stages.ts";
import { importLargeFiles } from "./stages/large-files-stage.ts";
import { importProject } from "./stages/project-stage.ts";
import { importPulls } from "./stages/pulls-stage.ts";

/** How long one message works on an import, in milliseconds; a step that has begun goes on. */
const JOB_MS = 60_000;

/** Attempts of one step, of which the last one gives up. */
const ATTEMPTS_MAX = 8;

/** The first wait after a failure, and the longest, in milliseconds. */
const BACK_OFF_MIN_MS = 15_000;
const BACK_OFF_MAX_MS = 3600_000;
/** The longest that a rate limit is waited for, in milliseconds. */
const RATE_LIMIT_MS_MAX = 24 * 3600_000;

/** The step of each stage. A step may be repeated. */
const STAGES: Readonly<Record<ImportStage, (job: ImportJob) => Promise<void>>> = {
  git: importGit,
  large_files: importLargeFiles,
  project: importProject,
  labels: importLabels,
  milestones: importMilestones,
  issues: importIssues,
  pulls: importPulls,
  comments: importComments,
  reviews: importReviews,
  releases: importReleases,
  assets: importAssets,
  finish: finishImport,
};

/**
 * Continues an import, if it is due and no other job works on it.
 *
 * Each step reads a page and writes it in one batch together with the position of the next page: if
 * a job dies, another one continues there, and nothing is imported twice. After a failure of the
 * remote the import waits, or ends with a reason; then it can be continued.
 *
 * @param open Opens the source of the import.
 */
export async function advanceImport(
  ctx: Ctx,
  importId: number,
  open: typeof openSource = openSource,
): Promise<void> {
  const now = Date.now();
  const isRow = and(
    eq(imports.id, importId),
    inArray(imports.state, ["running", "waiting"]),
  ) as SQL;
  const lease = await JobLease.take(ctx, imports, { isRow, isDue: lte(imports.dueAt, now) }, now);
  if (!lease) return;
  const opened = await findImportToAdvance(ctx, importId);
  if (!opened) return;
  const isDone = await lease.during(() => work(opened, lease, open));
  if (!isDone) await ctx.remoteJobs.send([{ kind: "import", importId }]);
}

/** @returns False if another message is to go on at once. */
async function work(
  opened: OpenedImport,
  lease: JobLease,
  open: typeof openSource,
): Promise<boolean> {
  const { ctx } = opened;
  if (!opened.isPermitted) {
    const reason = "who asked for it may no longer administer the repository";
    await endImport({ ...opened, lease }, "failed", reason);
    return true;
  }
  let job: ImportJob | undefined;
  try {
    const source = await open(ctx, opened.row, opened.answers);
    job = new ImportJob({ ...opened, lease }, source, Date.now() + JOB_MS);
    while (job.row.state !== "done") {
      if (job.isTimeUp) {
        await waitWithImport(job, "running", { dueAt: Date.now(), lastError: "" });
        return false;
      }
      const { numbering } = job.row.options;
      await STAGES[job.row.stage](job);
      // From now on the reader numbers as it decided.
      if (job.row.options.numbering !== numbering) {
        job.source = await open(ctx, job.row, job.answers);
      }
    }
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) return true;
    const at = { ...opened, row: job?.row ?? opened.row, lease };
    await settleFailure(at, error, job?.hasAdvanced ?? false);
    return true;
  }
}

/**
 * Stores what a failure means for an import.
 *
 * @param hasAdvanced Whether the job has got further before it.
 */
async function settleFailure(
  at: OpenedImport & { readonly lease: JobLease },
  error: unknown,
  hasAdvanced: boolean,
): Promise<void> {
  const now = Date.now();
  const { row, answers } = at;
  const stored = answers.toStore();
  const isLimited = error instanceof RemoteFailure && error.kind === "rate_limited";
  // The forge answers, but too little at a time for even one answer that can be kept.
  const isStuck = answers.count > 0 && stored.length === 0 && !hasAdvanced;
  const isWait = isLimited && error.retryAt !== undefined && !isStuck;
  const failureCount = isWait ? row.failureCount : row.failureCount + 1;
  const reason = toReason(row, error);
  const mayPass = error instanceof RemoteFailure ? error.mayPass : !(error instanceof Failure);
  // A limit that is met after answers is no mistake in the address.
  const isMistake = isAwaited(at, now) && !(isWait && (answers.count > 0 || answers.hasStored));
  if (!mayPass || failureCount >= ATTEMPTS_MAX || isMistake) {
    await endImport(at, "failed", reason);
    return;
  }
  const backOffMs = Math.min(BACK_OFF_MIN_MS * 2 ** (failureCount - 1), BACK_OFF_MAX_MS);
  const retryAt = isLimited ? error.retryAt : undefined;
  const dueAt =
    retryAt === undefined
      ? now + backOffMs * (1 + Math.random() / 4)
      : Math.min(Math.max(retryAt, now + 1000), now + RATE_LIMIT_MS_MAX);
  const change = { dueAt: Math.round(dueAt), lastError: reason, failureCount };
  await waitWithImport(at, "waiting", change, stored);
}

/**
 * Whether the caller still waits for the first word of the other side. Then every failure is the
 * answer: an address that does not work is to be corrected, not tried again.
 */
const isAwaited = ({ ctx, row }: OpenedImport, now: number): boolean =>
  row.stage === "git" &&
  Object.keys(row.progress).length === 0 &&
  row.options.since === undefined &&
  now < row.createdAt + ctx.config.migrationWaitMs;

/** SECURITY: the reason is public. The message of a bug may contain secrets: it is logged only. */
function toReason({ id, stage }: Import, error: unknown): string {
  // An address that was found at the beginning is not wrong.
  if (error instanceof RemoteFailure && error.kind === "not_found" && stage !== "git") {
    return `Migration failed: ${error.message}: it is gone there, or no longer shown.`;
  }
  if (error instanceof RemoteFailure) return toFailureWords(error);
  if (error instanceof Failure) return `Migration failed: ${error.message}.`;
  logBug(`import ${id}`, error);
  return "Migration failed: internal error.";
}
