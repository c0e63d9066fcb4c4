import { and, eq, ne, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { hasOpenBlockers } from "../../../db/open-blockers.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues, pulls, scheduledMerges } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { notFound, precondition } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { issueById, toIssueContext } from "./find-issue.ts";
import { insertEntryIfChanged } from "./insert-entry.ts";
import { isIssueOpen, stopStatements } from "./stop-stopwatch.ts";
import { unscheduleStatements } from "./unschedule-merge.ts";

/** The cause of a change of state. */
interface StateCause {
  /** The commit whose message changes the state; "" for none. */
  readonly commitOid?: Oid | "";
}

/**
 * Closes or reopens an issue or pull request. Idempotent: without a change there is no entry and no
 * event. A merged one stays closed.
 *
 * @throws Failure `precondition` for closing one with open blockers, `not_found` if it was deleted
 * meanwhile. A violation of `UNIQUE` if the commit did the same to it before.
 */
export async function changeState(
  ctx: Ctx,
  issue: IssueContext,
  isClosed: boolean,
  cause: StateCause = {},
): Promise<IssueContext> {
  try {
    const { found } = await batch(ctx.db, {
      change: stateStatements(ctx, issue, isClosed, cause),
      found: issueById(ctx.db, { id: issue.row.id }),
    });
    const [row] = found;
    if (!row) throw notFound("issue does not exist");
    return toIssueContext(issue.repo, row);
  } catch (error) {
    throw asOpenBlockers(error);
  }
}

/**
 * The statements that close or reopen an issue or pull request, with the entry of the timeline and
 * the event. Where it has that state already they write nothing. The caller's stopwatch on an issue
 * that is closed stops, and a scheduled merge of a pull request is cancelled. `asOpenBlockers`
 * translates the error of a failed batch.
 */
export function stateStatements(
  ctx: Ctx,
  issue: IssueContext,
  isClosed: boolean,
  { commitOid = "" }: StateCause = {},
) {
  const { id: issueId, repoId } = issue.row;
  const kind = isClosed ? "close" : "reopen";
  const isWaiting = isClosed && issue.repo.row.issueSettings.enableIssueDependencies;
  const change = [
    setState(ctx.db, { issueId, isClosed, isWaiting, now: ctx.now }),
    insertEntryIfChanged(ctx, { kind, repoId, issueId, commitOid }),
    recordIfChanged(ctx, {
      type: isClosed ? "issue.closed" : "issue.reopened",
      ...eventSubject(issue),
      commitOid,
    }),
  ] as const;
  if (!isClosed) return change;
  const { user } = ctx.actor;
  const closing = user
    ? ([...stopStatements(ctx, issue, user, { isIfOpen: true }), ...change] as const)
    : change;
  if (!issue.row.isPull) return closing;
  const deletion = deleteMergeIfOpen(ctx.db, { issueId });
  return [...unscheduleStatements(ctx, issue, deletion), ...closing] as const;
}

interface NewState {
  readonly issueId: number;
  readonly isClosed: boolean;
  /** Whether open blockers keep the issue from being closed. */
  readonly isWaiting: boolean;
  readonly now: number;
}

const setState = prepare((db, p: Params<NewState>) => {
  const { issueId, isClosed, now } = p;
  const isBlocked = p.isWaiting ? hasOpenBlockers(issueId) : sql`false`;
  return db
    .update(issues)
    .set({
      isClosed: isClosed ? onlyWhile(sql`not ${isBlocked}`, sql<boolean>`1`) : false,
      closedAt: isClosed ? now : null,
      updatedAt: now,
    })
    .where(
      and(
        eq(issues.id, issueId),
        ne(issues.isClosed, isClosed),
        // A merge is final.
        isClosed ? undefined : sql`not ${isMerged(issueId)}`,
      ),
    );
});

const deleteMergeIfOpen = prepare((db, { issueId }: Params<{ issueId: number }>) =>
  db.delete(scheduledMerges).where(and(eq(scheduledMerges.issueId, issueId), isIssueOpen(issueId))),
);

const isMerged = (issueId: SQL): SQL => sql`exists (
  select 1 from ${pulls}
  where ${pulls.issueId} = ${issueId} and ${pulls.mergedAt} is not null
)`;

/** Translates the error of a failed batch with `stateStatements`. */
export const asOpenBlockers = (error: unknown): unknown =>
  isViolation(error, "NOT NULL", "issues.is_closed")
    ? precondition("cannot close this issue or pull request because it still has open dependencies")
    : error;
