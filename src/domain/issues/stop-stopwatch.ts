import { and, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { durationSql } from "../../db/duration-sql.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { stopwatches, trackedTimes, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { insertEntryIfChanged } from "./insert-entry.ts";
import { isBlockedFromIssue } from "./is-blocked-from-issue.ts";
import { lastTimeId } from "./last-time-id.ts";

/**
 * The statements that stop a user's stopwatch on an issue or pull request and book its time, a second at least. Where
 * none runs, or where a block keeps the user from the issue, they write nothing; the first one returns the booked time.
 *
 * @param isStopped A further condition.
 */
export function stopStatements(
  ctx: Ctx,
  issue: IssueContext,
  user: Pick<User, "id">,
  isStopped: SQL = sql`1`,
) {
  const { db, now } = ctx;
  const { id: issueId, repoId } = issue.row;
  const userId = sql<number>`${stopwatches.userId}`;
  const isThis = and(
    isStopwatchOf(user, issueId),
    sql`not ${isBlockedFromIssue(userId, issue)}`,
    isStopped,
  );
  const seconds = sql`(
    select ${trackedTimes.seconds}
    from ${trackedTimes}
    where ${trackedTimes.id} = last_insert_rowid()
  )`;
  return [
    insertSelect(
      db,
      trackedTimes,
      {
        repoId,
        issueId,
        userId,
        // A bound number is a float for D1, and so is what is computed from it.
        seconds: sql`max(1, cast((${now} - ${stopwatches.createdAt}) / 1000 as integer))`,
        createdAt: now,
        bookedAt: now,
      },
      sql`from ${stopwatches} where ${isThis}`,
    ).returning({ id: trackedTimes.id }),
    insertEntryIfChanged(ctx, {
      kind: "stop_tracking",
      repoId,
      issueId,
      posterId: user.id,
      body: durationSql(seconds),
      timeId: sql`last_insert_rowid()`,
    }),
    recordIfChanged(ctx, {
      type: "issue.time_added",
      ...eventSubject(issue),
      userId: user.id,
      timeId: lastTimeId,
    }),
    db.delete(stopwatches).where(isThis),
  ] as const;
}

/** The condition for the stopwatch of a user on an issue. */
export const isStopwatchOf = ({ id }: Pick<User, "id">, issueId: number) =>
  and(eq(stopwatches.userId, id), eq(stopwatches.issueId, issueId));
