import { and, eq, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { scheduledMerges } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { insertEntryIfChanged } from "./insert-entry.ts";

/**
 * The statements that cancel the scheduled merge of a pull request, and tell of it. Without one they write nothing.
 *
 * @param condition Whether it is cancelled.
 */
export function unscheduleStatements(ctx: Ctx, issue: IssueContext, condition: SQL) {
  const { id: issueId, repoId } = issue.row;
  const { isPull: _, ...subject } = eventSubject(issue);
  return [
    ctx.db.delete(scheduledMerges).where(and(eq(scheduledMerges.issueId, issueId), condition)),
    insertEntryIfChanged(ctx, { kind: "pull_cancel_scheduled_merge", repoId, issueId }),
    recordIfChanged(ctx, { type: "pull.merge_unscheduled", ...subject }),
  ] as const;
}
