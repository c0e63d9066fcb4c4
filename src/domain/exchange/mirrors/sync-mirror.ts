import { eq, lte, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { ANONYMOUS } from "../../../auth/actor.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import {
  type PullMirror,
  type pullMirrors,
  type PushMirror,
  type pushMirrors,
  repositories,
} from "../../../db/schema/index.ts";
import { Failure } from "../../../lib/failure.ts";
import { logBug } from "../../../lib/log.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { RemoteJob } from "../../../storage/remote-jobs.ts";
import { JobLease } from "../remotes/job-lease.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { mirrorEvents } from "./mirror-events.ts";
import { afterFailure, afterSuccess, type MirrorHealth } from "./next-attempt.ts";
import { isMirrorApproved, NOT_APPROVED } from "./open-mirror.ts";

type Mirror = PullMirror | PushMirror;

/**
 * A mirror with its repository. Nobody's permission is asked: the mirror is its repository's own.
 */
export interface OpenMirror<M extends Mirror> {
  readonly mirror: M;
  readonly repo: RepositoryContext;
}

/** The differences between pull and push mirrors. */
export interface MirrorKind<M extends Mirror> {
  readonly table: M extends PullMirror ? typeof pullMirrors : typeof pushMirrors;
  /** The condition for one of them by its id. */
  readonly isOne: (id: number) => SQL;
  /** Synchronizes the mirror. @throws RemoteFailure if the remote fails or refuses. */
  attempt(ctx: Ctx, open: OpenMirror<M>): Promise<void>;
  /** By which the API names it, if the repository may have several. */
  remoteName(mirror: M): string | undefined;
  /** Whether it is tried again although it has no interval. */
  isAlwaysRetried(mirror: M): boolean;
  /** Further statements of the batch that stores an attempt. */
  toRest(ctx: Ctx, open: OpenMirror<M>, after: MirrorHealth): BatchItem<"sqlite">[];
  toJob(id: number): RemoteJob;
}

/**
 * Synchronizes a mirror with its remote, if it is due and no other job works on it.
 *
 * A failure is stored with the mirror, recorded as an event, and retried later.
 */
export async function syncMirror<M extends Mirror>(
  ctx: Ctx,
  kind: MirrorKind<M>,
  id: number,
): Promise<OpenMirror<M> | undefined> {
  if (!ctx.config.mirrors.isOn) return undefined;
  const startedAt = Date.now();
  const row = { isRow: kind.isOne(id), isDue: lte(kind.table.dueAt, startedAt) };
  const lease = await JobLease.take(ctx, kind.table, row, startedAt);
  if (!lease) return undefined;
  const open = await openMirror(ctx, kind, id);
  if (!open) return undefined;
  const { isApproved } = open;
  const failure = isApproved
    ? await lease.during(() => attempt(ctx, kind, open))
    : new RemoteFailure("refused", NOT_APPROVED);

  const now = Date.now();
  const { mirror, repo } = open;
  const { intervalSeconds } = mirror;
  const after = failure
    ? afterFailure(
        mirror,
        failure,
        {
          intervalSeconds,
          isAlwaysRetried: kind.isAlwaysRetried(mirror),
          pauseMs: isApproved ? ctx.config.mirrors.pauseMs : 0,
          random: Math.random(),
        },
        now,
      )
    : afterSuccess(intervalSeconds, now);
  const { dueAt } = kind.table;
  // A request that came meanwhile stays due.
  const nextAt = sql<number>`case
    when ${dueAt} > ${startedAt} then ${dueAt}
    else ${after.dueAt}
  end`;
  const table = kind.table as typeof pullMirrors;
  const [updated] = await ctx.db.batch([
    ctx.db
      .update(table)
      .set({ ...after, dueAt: nextAt })
      .where(lease.isHeld)
      .returning({ dueAt: table.dueAt }),
    ...mirrorEvents(ctx, repo.row, kind.remoteName(mirror), { before: mirror, after }),
    ...kind.toRest(ctx, open, after),
  ]);
  if ((updated[0]?.dueAt ?? Infinity) <= now) await ctx.remoteJobs.send([kind.toJob(id)]);
  return failure ? undefined : open;
}

async function openMirror<M extends Mirror>(
  ctx: Ctx,
  { table, isOne }: MirrorKind<M>,
  id: number,
): Promise<(OpenMirror<M> & { isApproved: boolean }) | undefined> {
  const { rows, mirrors } = await batch(ctx.db, {
    rows: selectRepositories(ctx.db, callerSql(ANONYMOUS)).where(
      sql`${repositories.id} = (select ${table.repoId} from ${table} where ${isOne(id)})`,
    ),
    mirrors: ctx.db
      .select({
        mirror: columnsOf(table as typeof pullMirrors, "m"),
        isApproved: sql<number>`${isMirrorApproved(table)}`.as("is_approved"),
      })
      .from(table as typeof pullMirrors)
      .innerJoin(repositories, eq(repositories.id, table.repoId))
      .where(isOne(id)),
  });
  const [row] = rows;
  const [found] = mirrors;
  if (!row || !found) return undefined;
  return {
    mirror: found.mirror as M,
    repo: toRepositoryContext(ANONYMOUS, row),
    isApproved: Boolean(found.isApproved),
  };
}

/** @returns The failure, of the remote or of this side; undefined if the mirror is synchronized. */
async function attempt<M extends Mirror>(
  ctx: Ctx,
  kind: MirrorKind<M>,
  open: OpenMirror<M>,
): Promise<RemoteFailure | undefined> {
  try {
    await kind.attempt(ctx, open);
    return undefined;
  } catch (error) {
    if (error instanceof RemoteFailure) return error;
    if (error instanceof Failure) return new RemoteFailure("refused", error.message);
    // An unhandled error would be retried each minute, and no one would be notified.
    logBug(`mirror of repository ${open.mirror.repoId}`, error);
    return new RemoteFailure("server", "internal error");
  }
}
