import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { isViolation, onlyWhile } from "../../db/db.ts";
import { issues, milestones } from "../../db/schema/index.ts";
import { recordEach, recordIfChanged } from "../../events/record.ts";
import { invalidField } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { insertEntries } from "./insert-entry.ts";

/**
 * The statements that give an issue or pull request a milestone of its repository, or take it off. Where it has that one
 * already they write nothing, also if it is closed meanwhile. A failed batch is judged by `asWrongMilestone`.
 */
export function milestoneStatements(ctx: Ctx, issue: IssueContext, milestoneId: number | null) {
  const { id: issueId, repoId } = issue.row;
  const isChanged = and(eq(issues.id, issueId), sql`${issues.milestoneId} is not ${milestoneId}`);
  const from = sql`from ${issues} where ${isChanged}`;
  const isOpen = sql`exists (
    select 1
    from ${milestones}
    where ${milestones.id} = ${milestoneId}
      and ${milestones.repoId} = ${repoId}
      and not ${milestones.isClosed}
  )`;
  const entry = { kind: "milestone" as const, repoId, issueId };
  const subject = eventSubject(issue);
  return [
    // First, since the entry refers to the milestone.
    ctx.db
      .update(issues)
      .set({ createdAt: onlyWhile(sql`(${milestoneId} is null or ${isOpen})`, sql`created_at`) })
      .where(isChanged),
    milestoneId === null
      ? recordEach(
          ctx,
          { type: "issue.demilestoned", ...subject, milestoneId: sql`${issues.milestoneId}` },
          from,
        )
      : recordIfChanged(ctx, { type: "issue.milestoned", ...subject, milestoneId }),
    insertEntries(ctx, { ...entry, milestoneId, oldMilestoneId: issues.milestoneId }, from),
    ctx.db.update(issues).set({ milestoneId, updatedAt: ctx.now }).where(isChanged),
  ] as const;
}

/** What a failed batch with `milestoneStatements` means for the caller. */
export const asWrongMilestone = (error: unknown): unknown =>
  isViolation(error, "NOT NULL", "issues.created_at")
    ? invalidField("milestone", "must be the id of an open milestone of the repository")
    : error;
