import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, milestones, timelineEntries } from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, IF_CHANGED, recordBy } from "../../../events/record.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { entryArgument, type EntryArgument } from "./insert-entry.ts";

/**
 * The statements that give an issue or pull request a milestone of its repository, or take it off.
 * They write nothing where it has that one already, even a closed one. `asWrongMilestone`
 * translates the error of a failed batch.
 */
export function milestoneStatements(ctx: Ctx, issue: IssueContext, milestoneId: number | null) {
  const { id: issueId, repoId } = issue.row;
  const subject = eventSubject(issue);
  const event =
    milestoneId === null
      ? eventArgument(ctx, { type: "issue.demilestoned", ...subject, milestoneId: COMPUTED })
      : eventArgument(ctx, { type: "issue.milestoned", ...subject, milestoneId });
  const args = { repoId, issueId, milestoneId, isRemoved: milestoneId === null };
  return setMilestone(ctx.db, { ...args, entry: entryArgument(ctx), event });
}

interface NewMilestone {
  readonly repoId: number;
  readonly issueId: number;
  readonly milestoneId: number | null;
  readonly isRemoved: boolean;
  readonly entry: EntryArgument;
  readonly event: EventArgument;
}

const setMilestone = prepareAll((db, p: Params<NewMilestone>) => {
  const { repoId, issueId, milestoneId, entry } = p;
  const isChanged = and(eq(issues.id, issueId), sql`${issues.milestoneId} is not ${milestoneId}`);
  const from = sql`from ${issues} where ${isChanged}`;
  const isOpen = sql`exists (
    select 1
    from ${milestones}
    where ${milestones.id} = ${milestoneId}
      and ${milestones.repoId} = ${repoId}
      and not ${milestones.isClosed}
  )`;
  return [
    // First, since the entry refers to the milestone.
    db
      .update(issues)
      .set({
        createdAt: onlyWhile(sql`(${milestoneId} is null or ${isOpen})`, sql`${issues.createdAt}`),
      })
      .where(isChanged),
    p.isRemoved
      ? recordBy(db, p.event, { milestoneId: sql`${issues.milestoneId}` }, from)
      : recordBy(db, p.event, {}, IF_CHANGED),
    insertSelect(
      db,
      timelineEntries,
      {
        kind: "milestone",
        repoId,
        issueId,
        ...entry,
        milestoneId,
        oldMilestoneId: issues.milestoneId,
      },
      from,
    ),
    db.update(issues).set({ milestoneId, updatedAt: entry.updatedAt }).where(isChanged),
  ] as const;
});

/** Translates the error of a failed batch with `milestoneStatements`. */
export const asWrongMilestone = (error: unknown): unknown =>
  isViolation(error, "NOT NULL", "issues.created_at")
    ? invalidField("milestone", "must be the id of an open milestone of the repository")
    : error;
