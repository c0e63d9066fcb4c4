import { eq, sql } from "drizzle-orm";

import { asBlocked, isBlockBetween, unlessBlocked } from "../../../auth/access/blocks.ts";
import { reaches } from "../../../auth/access/people.ts";
import type { Ctx } from "../../../context.ts";
import { anyOf, isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { issues, trackedTimes, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { formatDuration } from "../../../lib/duration.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { TrackedTimeContext } from "../../../shapes/issues/tracked-time.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { unitOf } from "../issue/find-issue.ts";
import { insertEntryIfChanged } from "../issue/insert-entry.ts";
import { isBlockedFromIssue } from "../issue/is-blocked-from-issue.ts";
import { lastTimeId } from "../issue/last-time-id.ts";

/** Time to be booked. */
export interface NewTime {
  /** The user whose time it is. */
  readonly user: User;
  /** Positive. */
  readonly seconds: number;
  /** When the work was done. */
  readonly doneAt: number;
  /** The commit that booked it, which books time on an issue at most once; "" for none. */
  readonly commitOid?: Oid | "";
}

/**
 * Books time on an issue or pull request.
 *
 * The booking is refused if its user can't read the issue at that time, or if a block forbids it.
 *
 * @throws Failure `invalid`, `forbidden` for a block, `not_found` if the issue was deleted
 * meanwhile. A violation of `UNIQUE` if the commit booked time on it before.
 */
export async function bookTime(
  ctx: Ctx,
  issue: IssueContext,
  { user, seconds, doneAt, commitOid = "" }: NewTime,
): Promise<TrackedTimeContext> {
  const { db, actor, now } = ctx;
  const { row, repo } = issue;
  const [userId, doerId] = [sql`${user.id}`, sql`${actor.user?.id ?? null}`];
  const isForbidden = anyOf(isBlockedFromIssue(doerId, issue), isBlockBetween(userId, doerId));
  const mayRead = reaches(userId, repo.row, { unit: unitOf(row), mode: "read" });
  try {
    const [[time]] = await db.batch([
      insertSelect(
        db,
        trackedTimes,
        {
          repoId: onlyWhile(mayRead, row.repoId),
          issueId: sql`${issues.id}`,
          userId: unlessBlocked(isForbidden, user.id),
          seconds,
          createdAt: doneAt,
          bookedAt: now,
        },
        sql`from ${issues} where ${eq(issues.id, row.id)}`,
      ).returning(),
      insertEntryIfChanged(ctx, {
        kind: "add_time_manual",
        repoId: row.repoId,
        issueId: row.id,
        posterId: user.id,
        body: formatDuration(seconds),
        timeId: sql`last_insert_rowid()`,
        commitOid,
      }),
      recordIfChanged(ctx, {
        type: "issue.time_added",
        ...eventSubject(issue),
        userId: user.id,
        timeId: lastTimeId,
      }),
    ]);
    if (!time) throw notFound("issue does not exist");
    return { row: time, user, issue };
  } catch (error) {
    if (isViolation(error, "NOT NULL", "tracked_times.repo_id")) {
      throw invalid(`${user.name} can't read this issue`);
    }
    throw asBlocked(error, "tracked_times.user_id");
  }
}
