import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { asBlocked, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issues, stopwatches, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { conflict, forbidden } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { eventSubject } from "../issues/event-subject.ts";
import { findIssue } from "../issues/find-issue.ts";
import { insertEntries, insertEntryIfChanged } from "../issues/insert-entry.ts";
import { everywhere } from "../shards/list-from-all.ts";
import { findRunning, type Running } from "./find-running.ts";
import { isBlockedFromIssue } from "../issues/is-blocked-from-issue.ts";
import { isStopwatchOf, stopStatements } from "../issues/stop-stopwatch.ts";
import { maySpendTime, requireSpendingTime } from "./time-access.ts";

/** Attempts to start a stopwatch, while the user starts others at the same time. */
const ATTEMPTS_MAX = 3;

/**
 * Starts the caller's stopwatch on an issue or pull request. One that runs on another issue stops, and its time is booked;
 * it is discarded where the caller may not spend time any more.
 *
 * @throws Failure `forbidden` for callers who may not spend time on the issue, `conflict` if it runs already.
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
    if (!(await tryStart(ctx, issue, caller, endRunning(ctx, running, caller)))) continue;
    await endElsewhere(ctx, issue, caller);
    return;
  }
  throw conflict("cannot start a stopwatch again if it already exists");
}

/** The statements that stop stopwatches of a user, or discard them where the user may not spend time any more. */
const endRunning = (ctx: Ctx, running: readonly Running[], user: User): BatchItem<"sqlite">[] =>
  running.flatMap(({ issueId, issue }) => [
    ...(issue && maySpendTime(issue, user) ? stopStatements(ctx, issue, user) : []),
    ctx.db.delete(stopwatches).where(isStopwatchOf(user, issueId)),
  ]);

/**
 * Ends the stopwatches of a user in other databases, which have no batch with the one that has started: for a moment both run. Of
 * two that start at once in two databases the later one goes on.
 *
 * Cost: nothing with one database; otherwise one round trip to the others at once, and one more of a database in which one runs.
 */
async function endElsewhere(ctx: Ctx, issue: IssueContext, user: User): Promise<void> {
  const others = everywhere(ctx).filter(({ db }) => db.shard !== ctx.db.shard);
  const started = { startedAt: ctx.now, issueId: issue.row.id };
  await Promise.all(
    others.map(async (other) => {
      const running = await findRunning(other, user, started);
      const [first, ...rest] = endRunning(other, running, user);
      if (first) await other.db.batch([first, ...rest]);
    }),
  );
}

/** Starts the stopwatch unless the user has one at the time of the write, so that a user never has two. */
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
  const told = [
    insertEntries(
      ctx,
      { kind: "start_tracking", repoId, issueId },
      sql`where changes() > 0`,
    ).returning(),
    recordIfChanged(ctx, {
      type: "issue.stopwatch_started",
      ...eventSubject(issue),
      userId: user.id,
    }),
  ] as const;
  try {
    const [first, ...rest] = [...endings, start, ...told];
    const results = await ctx.db.batch([first, ...rest]);
    return (results.at(-told.length) as unknown[]).length > 0;
  } catch (error) {
    throw asBlocked(error, "stopwatches.user_id");
  }
}

/**
 * Stops the caller's stopwatch on an issue or pull request, and books its time.
 *
 * @throws Failure `forbidden` for callers who may not spend time on the issue, `conflict` if none runs.
 */
export async function stopStopwatch(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  caller: User,
): Promise<void> {
  const issue = await findIssue(ctx, repo, number);
  requireSpendingTime(issue, caller);
  const [booked, , , , left] = await ctx.db.batch([
    ...stopStatements(ctx, issue, caller),
    ctx.db.select().from(stopwatches).where(isStopwatchOf(caller, issue.row.id)),
  ]);
  if (left.length > 0) throw forbidden("user is blocked");
  if (booked.length === 0) throw conflict("cannot stop a non-existent stopwatch");
}

/**
 * Discards the caller's stopwatch on an issue or pull request that the caller may read, without booking time.
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
