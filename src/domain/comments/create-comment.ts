import { and, eq, sql, type SQL } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issues, timelineEntries } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { forbidden } from "../../lib/failure.ts";
import type { CommentContext } from "../../shapes/issues/comment.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { eventSubject } from "../issues/event-subject.ts";
import { requireNotArchived } from "../issues/require-issue-access.ts";
import { isKeptOut, isParticipationAllowed, requireParticipation } from "./participation.ts";
import { selectComments, toCommentContext } from "./select-comments.ts";

const LOCKED = "You cannot comment on a locked issue.";

/**
 * Adds a comment by the caller to an issue or pull request.
 *
 * Cost: one batch. The lock and blocks are judged when it runs.
 *
 * @throws Failure `forbidden` if the issue is locked and the caller may only read it, if its unit is disabled, and where a
 * block separates the caller from its poster or from the owner of the repository; `locked` in an archived repository.
 */
export async function createComment(
  ctx: Ctx,
  issue: IssueContext,
  body: string,
): Promise<CommentContext> {
  requireNotArchived(issue.repo);
  requireParticipation(issue, LOCKED);
  const { db, now, actor } = ctx;
  const { repo, row } = issue;
  const comment = {
    repoId: repo.row.id,
    issueId: row.id,
    kind: "comment" as const,
    posterId: actor.user?.id ?? null,
    body: unlessBlocked(isKeptOut(ctx, issue), body),
    createdAt: now,
    updatedAt: now,
  };
  const newest = newestEntryId(row.id);
  const [inserted, , , [created]] = await db
    .batch([
      insertSelect(
        db,
        timelineEntries,
        comment,
        sql`from ${issues} where ${isParticipationAllowed(issue)}`,
      ).returning({ id: timelineEntries.id }),
      db
        .update(issues)
        .set({ updatedAt: now })
        .where(and(eq(issues.id, row.id), sql`changes() > 0`)),
      recordIfChanged(ctx, { type: "comment.created", ...eventSubject(issue), commentId: newest }),
      selectComments(db).where(eq(timelineEntries.id, newest)),
    ])
    .catch((error: unknown) => {
      throw asBlocked(error, "timeline_entries.body");
    });
  // Locked since it was read.
  if (!inserted[0] || !created) throw forbidden(LOCKED);
  return toCommentContext(repo, created);
}

/** The id of the entry that this batch has just added to the timeline of an issue. */
const newestEntryId = (issueId: number): SQL => sql`(
  select max(id)
  from ${timelineEntries}
  where issue_id = ${issueId}
)`;
