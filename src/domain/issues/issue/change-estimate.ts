import { and, eq, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { formatEstimate } from "../../../lib/duration.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { insertEntryIfChanged } from "./insert-entry.ts";

/**
 * The statements that set the estimated time of an issue or pull request, 0 for none. Where it has
 * that estimate already they write nothing.
 */
export function estimateStatements(ctx: Ctx, issue: IssueContext, seconds: number) {
  const { id: issueId, repoId } = issue.row;
  return [
    updateEstimate(ctx.db, { issueId, seconds, now: ctx.now }),
    insertEntryIfChanged(ctx, {
      kind: "change_time_estimate",
      repoId,
      issueId,
      body: formatEstimate(seconds),
    }),
    recordIfChanged(ctx, { type: "issue.estimate_changed", ...eventSubject(issue), seconds }),
  ] as const;
}

const updateEstimate = prepare((db, p: Params<{ issueId: number; seconds: number; now: number }>) =>
  db
    .update(issues)
    .set({ timeEstimateSeconds: p.seconds, updatedAt: p.now })
    .where(and(eq(issues.id, p.issueId), ne(issues.timeEstimateSeconds, p.seconds))),
);
