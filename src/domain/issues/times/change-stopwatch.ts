import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { asBlocked, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { issues, stopwatches, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, forbidden } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { findIssue } from "../issue/find-issue.ts";
import { insertEntries, insertEntryIfChanged } from "../issue/insert-entry.ts";
import { findRunning } from "./find-running.ts";
import { isBlockedFromIssue } from "../issue/is-blocked-from-issue.ts";
import { isStopwatchOf, stopStatements } from "../issue/stop-stopwatch.ts";
import { maySpendTime, requireSpendingTime } from "./time-access.ts";

/** Attempts to start a stopwatch, while the user starts others at the same time. */
const ATTEMPTS_MAX = 3;

/**
 * Starts the caller's stopwatch on an issue or pull request. One that runs on another issue stops,
 * and its time is booked; it is discarded where the caller may not spend time any more.
 *
 * @throws Failure `forbidden` for callers who may not spend time on the issue, `conflict` if it
 *   runs already.
 */
export async function startStopwatch(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  caller: User,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const [issue, running] = await Promise.all([
      findIssue(ctx, repo, number),
      findRunning(ctx, caller),
    ]);
    requireSpendingTime(issue, caller);
    if (running.some(({ issueId }) => issueId === issue.row.id)) break;
    const endings: BatchItem<"sqlite">[] = [];
    for (const { issueId, issue: other } of running) {
      if (other && maySpendTime(other, caller)) endings.push(...stopStatements(ctx, other, caller));
      endings.push(ctx.db.delete(stopwatches).where(isStopwatchOf(caller, issueId)));
    }
    if (await tryStart(ctx, issue, caller, endings)) return;
  }
  throw conflict("cannot start a stopwatch again if it already exists");
}

/**
 * Starts the stopwatch unless the user has one at the time of the write, so that a user never has
 * two.
 */
async function tryStart(
  ctx: Ctx,
  issue: IssueContext,
  user: User,
  endings: readonly BatchItem<"sqlite">[],
): Promise<boolean> {
  const { id: issueId, repoId } = issue.row;
  const isForbidden = isBlockedFromIssue(sql`${user.id}`, issue);
  const isAnyRunning = sql`exists (
    select 1 from ${stopwatches} where ${eq(stopwatches.userId, user.id)}
  )`;
  const start = insertSelect(
    ctx.db,
    stopwatches,
    {
      userId: unlessBlocked(isForbidden, user.id),
      issueId: sql`${issues.id}`,
      createdAt: ctx.now,
    },
    sql`from ${issues} where ${and(eq(issues.id, issueId), sql`not ${isAnyRunning}`)}`,
  );
  try {
    const { entries } = await batch(ctx.db, {
      endings,
      start,
      entries: insertEntries(
        ctx,
        { kind: "start_tracking", repoId, issueId },
        sql`where changes() > 0`,
      ).returning(),
      event: recordIfChanged(ctx, {
        type: "issue.stopwatch_started",
        ...eventSubject(issue),
        userId: user.id,
      }),
    });
    return entries.length > 0;
  } catch (error) {
    throw asBlocked(error, "stopwatches.user_id");
  }
}

/**
 * Stops the caller's stopwatch on an issue or pull request, and books its time.
 *
 * @throws Failure `forbidden` for callers who may not spend time on the issue, `conflict` if none
 *   runs.
 */
export async function stopStopwatch(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  caller: User,
): Promise<void> {
  const issue = await findIssue(ctx, repo, number);
  requireSpendingTime(issue, caller);
  const { stopped, left } = await batch(ctx.db, {
    stopped: stopStatements(ctx, issue, caller),
    left: ctx.db.select().from(stopwatches).where(isStopwatchOf(caller, issue.row.id)),
  });
  const [booked] = stopped;
  if (left.length > 0) throw forbidden("user is blocked");
  if (booked.length === 0) throw conflict("cannot stop a non-existent stopwatch");
}

/**
 * Discards the caller's stopwatch on an issue or pull request that the caller may read, without
 * booking time.
 *
 * @throws Failure `conflict` if none runs, `forbidden` instead for callers who may not start one.
 */
export async function cancelStopwatch(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  caller: User,
): Promise<void> {
  const issue = await findIssue(ctx, repo, number);
  const { id: issueId, repoId } = issue.row;
  const [deleted] = await ctx.db.batch([
    ctx.db
      .delete(stopwatches)
      .where(isStopwatchOf(caller, issueId))
      .returning({ issueId: stopwatches.issueId }),
    insertEntryIfChanged(ctx, { kind: "cancel_tracking", repoId, issueId }),
    recordIfChanged(ctx, {
      type: "issue.stopwatch_cancelled",
      ...eventSubject(issue),
      userId: caller.id,
    }),
  ]);
  if (deleted.length > 0) return;
  requireSpendingTime(issue, caller);
  throw conflict("cannot cancel a non-existent stopwatch");
}
