import { eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { issues, OWNER_PERMISSION } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { toIssuePayload } from "../../events/webhooks/payloads/issue-payload.ts";
import { openReceiver } from "../../events/webhooks/payloads/open-receiver.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { eventSubject } from "./event-subject.ts";
import { closePinGap } from "./pin-issue.ts";

/**
 * Deletes an issue or pull request with all that belongs to it. Its number is not used again.
 *
 * A trigger makes the files of its attachments due for removal.
 *
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function deleteIssue(ctx: Ctx, issue: IssueContext): Promise<void> {
  const { row, owner } = issue.repo;
  const viewer = openReceiver(ctx);
  // SECURITY: the stored payload is built with the owner's permission, as for every hook.
  const repo: RepositoryContext = { row, owner, permission: OWNER_PERMISSION };
  const sender = ctx.actor.user;
  const [, [deleted]] = await ctx.db.batch([
    closePinGap(ctx, issue.row),
    ctx.db.delete(issues).where(eq(issues.id, issue.row.id)).returning({ id: issues.id }),
    recordIfChanged(ctx, {
      type: "issue.deleted",
      ...eventSubject(issue),
      title: issue.row.title,
      lastPayload: toIssuePayload({ repo, sender, viewer }, "deleted", issue),
    }),
  ]);
  if (!deleted) throw notFound("issue does not exist");
}
