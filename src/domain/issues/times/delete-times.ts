import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { durationSql } from "../../../db/duration-sql.ts";
import { issues, trackedTimes, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { formatDuration } from "../../../lib/duration.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { findIssue, isNumbered } from "../issue/find-issue.ts";
import { insertEntries, insertEntryIfChanged } from "../issue/insert-entry.ts";
import { requireSpendingTime, requireTracker } from "./time-access.ts";

/**
 * Deletes a booked time of an issue or pull request: the caller's, or any for administrators of the
 * site.
 *
 * @throws Failure `malformed` where the repository does not track time, `forbidden` for callers who
 * may not spend time on the issue and for another user's time, `not_found` also for a time of
 * another issue.
 */
export async function deleteTime(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  caller: User,
  timeId: number,
): Promise<void> {
  const { db, actor } = ctx;
  const isThis = eq(trackedTimes.id, timeId);
  const isOfIssue = sql`${trackedTimes.issueId} = (
    select ${issues.id}
    from ${issues}
    where ${isNumbered(repo.row.id, number)}
  )`;
  const [issue, [time]] = await Promise.all([
    findIssue(ctx, repo, number),
    db.select().from(trackedTimes).where(and(isThis, isOfIssue)),
  ]);
  requireTracker(repo);
  requireSpendingTime(issue, caller);
  if (!time) throw notFound("tracked time does not exist");
  if (time.userId !== caller.id && !actor.isSiteAdmin) {
    throw forbidden("only the user whose time it is may delete it");
  }
  const { id: issueId, repoId } = issue.row;
  const [deleted] = await db.batch([
    db
      .delete(trackedTimes)
      .where(and(isThis, eq(trackedTimes.issueId, issueId)))
      .returning({ id: trackedTimes.id }),
    insertEntryIfChanged(ctx, {
      kind: "delete_time_manual",
      repoId,
      issueId,
      body: formatDuration(time.seconds),
    }),
    recordIfChanged(ctx, {
      type: "issue.time_deleted",
      ...eventSubject(issue),
      userId: time.userId,
      timeId,
    }),
  ]);
  if (deleted.length === 0) throw notFound("tracked time does not exist");
}

const own = derivedTable("own", "seconds");

/**
 * Deletes all times of the caller on an issue or pull request, as one entry of its timeline.
 *
 * @throws Failure as `deleteTime`; `not_found` also where the caller has none.
 */
export async function resetTimes(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  caller: User,
): Promise<void> {
  const { db } = ctx;
  const issue = await findIssue(ctx, repo, number);
  requireTracker(repo);
  requireSpendingTime(issue, caller);
  const { id: issueId, repoId } = issue.row;
  const isOwn = and(eq(trackedTimes.issueId, issueId), eq(trackedTimes.userId, caller.id));
  const all = sql`
    from (
      select sum(${trackedTimes.seconds}) as seconds
      from ${trackedTimes}
      where ${isOwn}
    ) ${own}
    where ${own.seconds} is not null`;
  const body = durationSql(sql`${own.seconds}`);
  const [entries] = await db.batch([
    insertEntries(ctx, { kind: "delete_time_manual", repoId, issueId, body }, all).returning(),
    recordIfChanged(ctx, {
      type: "issue.times_reset",
      ...eventSubject(issue),
      userId: caller.id,
    }),
    db.delete(trackedTimes).where(isOwn),
  ]);
  if (entries.length === 0) throw notFound("tracked time does not exist");
}
