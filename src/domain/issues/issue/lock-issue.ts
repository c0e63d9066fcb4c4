import { and, eq, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { issueIdById } from "./find-issue.ts";
import { insertEntryIfChanged } from "./insert-entry.ts";

/**
 * Locks or unlocks the conversation of an issue or pull request: only those who may write to its
 * unit comment and react in a locked one. Idempotent.
 *
 * @param reason The reason of a lock, for the timeline.
 * @throws Failure `not_found` if it was deleted meanwhile.
 */
export async function lockIssue(
  ctx: Ctx,
  issue: IssueContext,
  isLocked: boolean,
  reason = "",
): Promise<void> {
  const { id: issueId, repoId } = issue.row;
  const { found } = await batch(ctx.db, {
    updated: updateLock(ctx.db, { issueId, isLocked, now: ctx.now }),
    entry: insertEntryIfChanged(ctx, {
      kind: isLocked ? "lock" : "unlock",
      repoId,
      issueId,
      body: isLocked ? reason : "",
    }),
    event: recordIfChanged(ctx, {
      type: isLocked ? "issue.locked" : "issue.unlocked",
      ...eventSubject(issue),
    }),
    found: issueIdById(ctx.db, { id: issueId }),
  });
  if (found.length === 0) throw notFound("issue does not exist");
}

const updateLock = prepare(
  (db, { issueId, isLocked, now }: Params<{ issueId: number; isLocked: boolean; now: number }>) =>
    db
      .update(issues)
      .set({ isLocked, updatedAt: now })
      .where(and(eq(issues.id, issueId), ne(issues.isLocked, isLocked))),
);
