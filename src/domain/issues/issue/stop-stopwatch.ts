import { and, eq, sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { durationSql } from "../../../db/duration-sql.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  issues,
  stopwatches,
  timelineEntries,
  trackedTimes,
  type User,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, IF_CHANGED, recordBy } from "../../../events/record.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { entryArgument, type EntryArgument } from "./insert-entry.ts";
import { lastTimeId } from "./last-time-id.ts";

/**
 * The statements that stop a user's stopwatch on an issue or pull request and book its time, a
 * second at least. Where none runs, or where a block keeps the user from the issue, they write
 * nothing; the first one returns the booked time.
 *
 * @param condition Whether it stops only if the issue is open.
 */
export function stopStatements(
  ctx: Ctx,
  issue: IssueContext,
  { id: userId }: Pick<User, "id">,
  { isIfOpen }: { isIfOpen: boolean } = { isIfOpen: false },
) {
  const { id: issueId, repoId, posterId } = issue.row;
  return stop(ctx.db, {
    repoId,
    ownerId: issue.repo.row.ownerId,
    issueId,
    posterId,
    userId,
    isIfOpen,
    entry: { ...entryArgument(ctx), posterId: userId },
    event: eventArgument(ctx, {
      type: "issue.time_added",
      ...eventSubject(issue),
      userId,
      timeId: COMPUTED,
    }),
  });
}

interface StopArguments {
  readonly repoId: number;
  readonly ownerId: number;
  readonly issueId: number;
  readonly posterId: number | null;
  readonly userId: number;
  readonly isIfOpen: boolean;
  readonly entry: EntryArgument;
  readonly event: EventArgument;
}

const stop = prepareAll((db, p: Params<StopArguments>) => {
  const { repoId, issueId } = p;
  const now = p.entry.createdAt;
  const userId = sql<number>`${stopwatches.userId}`;
  const isThis = and(
    isStopwatchOf({ id: p.userId }, issueId),
    sql`not ${isBlockedBy(userId, p.ownerId, p.posterId)}`,
    p.isIfOpen ? isIssueOpen(issueId) : sql`1`,
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
    insertSelect(
      db,
      timelineEntries,
      {
        kind: "stop_tracking",
        repoId,
        issueId,
        ...p.entry,
        body: durationSql(seconds),
        timeId: sql`last_insert_rowid()`,
      },
      IF_CHANGED,
    ),
    recordBy(db, p.event, { timeId: lastTimeId }, IF_CHANGED),
    db.delete(stopwatches).where(isThis),
  ] as const;
});

/** The condition that an issue is open, at this point of the batch. */
export const isIssueOpen = (issueId: SQL): SQL => sql`exists (
  select 1 from ${issues} where ${issues.id} = ${issueId} and not ${issues.isClosed}
)`;

/** The condition for the stopwatch of a user on an issue. */
export const isStopwatchOf = ({ id }: { id: number | SQL }, issueId: number | SQL) =>
  and(eq(stopwatches.userId, id), eq(stopwatches.issueId, issueId));
