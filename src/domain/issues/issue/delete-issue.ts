import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { issues } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { IssuePayload } from "../../../shapes/webhooks/issue-payloads.ts";
import type { PullPayload } from "../../../shapes/webhooks/pull-payload.ts";
import { eventSubject } from "./event-subject.ts";
import { closePinGap } from "./pin-issue.ts";

/**
 * Deletes an issue or pull request with all that belongs to it. Its number is not used again.
 *
 * A trigger makes the files of its attachments due for removal.
 *
 * @param lastPayload The payload for hooks, since the issue can't be read any more.
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function deleteIssue(
  ctx: Ctx,
  issue: IssueContext,
  lastPayload: IssuePayload | PullPayload,
): Promise<void> {
  const { deleted } = await batch(ctx.db, {
    gap: closePinGap(ctx, issue.row),
    deleted: ctx.db.delete(issues).where(eq(issues.id, issue.row.id)).returning({ id: issues.id }),
    event: recordIfChanged(ctx, {
      type: "issue.deleted",
      ...eventSubject(issue),
      title: issue.row.title,
      lastPayload,
    }),
  });
  if (deleted.length === 0) throw notFound("issue does not exist");
}
