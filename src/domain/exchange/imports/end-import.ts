import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import {
  type Import,
  imports,
  type ImportState,
  pullMirrors,
  repositories,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { StoredAnswer } from "../../../forges/step-answers.ts";
import type { JobLease } from "../remotes/job-lease.ts";
import { expireExportFile } from "./export-file.ts";
import type { ImportJob } from "./import-job.ts";
import { storeAnswers } from "./store-answers.ts";
import type { OpenedImport } from "./open-import.ts";
import { forgetAnswers } from "./stored-answers.ts";

type Working = Pick<OpenedImport, "ctx" | "repo" | "row"> & { readonly lease: JobLease };

/** The state of an import in its repository's record; null removes it there. */
export const setOrigin = ({ db }: Ctx, repoId: number, state: ImportState, isChanged: SQL) => {
  const { origin } = repositories;
  const value =
    state === "done"
      ? sql`json_remove(${origin}, '$.import')`
      : sql`json_set(${origin}, '$.import', ${state})`;
  return db
    .update(repositories)
    .set({ origin: value })
    .where(and(eq(repositories.id, repoId), sql`${origin} is not null`, isChanged));
};

/** Whether the import has this state now. */
const hasState = (importId: number, state: ImportState): SQL => sql`exists (
  select 1 from ${imports} where ${imports.id} = ${importId} and ${imports.state} = ${state}
)`;

/**
 * Ends the work on an import for now: the schedule, or a message, goes on with it.
 *
 * @param answers What was answered to a step that could not end.
 */
export async function waitWithImport(
  { ctx, lease, repo, row }: Working | ImportJob,
  state: "running" | "waiting",
  change: Pick<Import, "dueAt" | "lastError"> & Partial<Pick<Import, "failureCount">>,
  answers: readonly StoredAnswer[] = [],
): Promise<void> {
  const update = ctx.db
    .update(imports)
    .set({ ...change, state, leasedUntil: 0 })
    .where(lease.isHeld);
  const isShown = row.options.since === undefined;
  const [first, ...rest] = [...storeAnswers(ctx.db, answers, lease.isHeld), update];
  await ctx.db.batch([
    first ?? update,
    ...rest,
    ...(isShown ? [setOrigin(ctx, repo.row.id, state, hasState(row.id, state))] : []),
  ]);
}

/** Ends an import that can't go on by itself. */
export async function endImport(
  { ctx, lease, repo, row }: Working,
  state: "failed",
  reason: string,
): Promise<void> {
  const { id: repoId, ownerId } = repo.row;
  const isShown = row.options.since === undefined;
  await ctx.db.batch([
    ctx.db
      .update(imports)
      .set({ state, lastError: reason, dueAt: null, leasedUntil: 0, finishedAt: Date.now() })
      .where(lease.isHeld),
    ...(isShown
      ? [
          recordIfChanged(ctx, { type: "migration.failed", repoId, ownerId, reason }),
          setOrigin(ctx, repoId, state, hasState(row.id, state)),
        ]
      : []),
    forgetAnswers(ctx.db, row.id),
  ]);
}

/** The last stage: the repository is as any other from now on, or the mirror that it is to be. */
export async function finishImport(job: ImportJob): Promise<void> {
  const { ctx, repo, row } = job;
  const { id: repoId, ownerId } = repo.row;
  const now = Date.now();
  const isShown = row.options.since === undefined;
  const isDone = hasState(row.id, "done");
  // A mirror with parts goes on with its credentials.
  const isKept = repo.row.isMirror && row.options.parts.length > 0;
  const { file } = row.options;
  // Only exports of this service archive the repository: elsewhere a project may have been archived
  // because it moves here.
  const isArchived = file !== undefined && (await job.source.reader?.readProject())?.isArchived;
  await job.commit(
    {},
    {
      ended: ctx.db
        .update(imports)
        .set({
          state: "done",
          dueAt: null,
          leasedUntil: 0,
          finishedAt: now,
          ...(!isKept && { sealedPassword: null, username: "" }),
        })
        .where(eq(imports.id, row.id)),
      file: file ? [expireExportFile(ctx, file.uuid, isDone)] : [],
      archived: isArchived
        ? [
            ctx.db
              .update(repositories)
              .set({ archivedAt: now })
              .where(and(eq(repositories.id, repoId), isDone)),
          ]
        : [],
      shown: isShown
        ? [
            recordIfChanged(ctx, { type: "migration.finished", repoId, ownerId }),
            ctx.db
              .update(pullMirrors)
              .set({
                syncedAt: now,
                attemptedAt: now,
                dueAt: sql`iif(
                  ${pullMirrors.intervalSeconds} > 0,
                  ${now} + ${pullMirrors.intervalSeconds} * 1000, null
                )`,
              })
              .where(and(eq(pullMirrors.repoId, repoId), isDone)),
            ctx.db
              .update(repositories)
              .set({
                origin: sql`json_set(${repositories.origin}, '$.mirror.syncedAt', ${now})`,
              })
              .where(
                and(
                  eq(repositories.id, repoId),
                  sql`json_extract(${repositories.origin}, '$.mirror') is not null`,
                  isDone,
                ),
              ),
            setOrigin(ctx, repoId, "done", isDone),
          ]
        : [],
    },
  );
  job.row = { ...job.row, state: "done" };
}
