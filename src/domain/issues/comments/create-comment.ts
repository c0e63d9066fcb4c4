import { and, eq, sql, type SQL } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, timelineEntries } from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, IF_CHANGED, recordBy } from "../../../events/record.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { CommentContext } from "../../../shapes/issues/comment.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { claimUploads } from "../uploads/claim-uploads.ts";
import { asEditRefusal, editStatements } from "../issue/edit-issue.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { entryArgument, type EntryArgument } from "../issue/insert-entry.ts";
import { requireNotArchived } from "../issue/require-issue-access.ts";
import {
  isKeptOut,
  isParticipationAllowed,
  participationArgument,
  type ParticipationArgument,
  requireParticipation,
} from "./participation.ts";
import { isComment, selectComments, toCommentContext } from "./select-comments.ts";

const LOCKED = "You cannot comment on a locked issue.";

interface CommentOptions {
  /**
   * A time: the same text that the caller has written there since then is the same comment sent
   * again, whose answer was lost, and is returned instead.
   */
  readonly unlessSince?: number | undefined;
  /** Whether the issue is closed or reopened with the comment; undefined leaves it as it is. */
  readonly isClosed?: boolean | undefined;
}

/**
 * Adds a comment by the caller to an issue or pull request, and changes its state with it.
 *
 * Cost: one batch. The lock and blocks are checked when it runs.
 *
 * @throws Failure `forbidden` if the issue is locked and the caller may only read it, if its unit
 * is disabled, and where a block separates the caller from its poster or from the owner of the
 * repository; `locked` in an archived repository. Another state is refused as in `editIssue`, with
 * the comment.
 */
export async function createComment(
  ctx: Ctx,
  issue: IssueContext,
  body: string,
  { unlessSince, isClosed }: CommentOptions = {},
): Promise<CommentContext> {
  requireNotArchived(issue.repo);
  requireParticipation(issue, LOCKED);
  const { db } = ctx;
  const { repo } = issue;
  const statements = insertComment(db, {
    participation: participationArgument(ctx, issue),
    repoId: repo.row.id,
    body,
    unlessSince,
    entry: entryArgument(ctx),
    event: eventArgument(ctx, {
      type: "comment.created",
      ...eventSubject(issue),
      commentId: COMPUTED,
    }),
  });
  const state = isClosed === undefined ? [] : editStatements(ctx, issue, { isClosed }, []);
  const { found: comment, ...insertion } = statements;
  const entryId = ownSince(ctx, issue.row.id, unlessSince ?? ctx.now);
  const claimant = { repoId: repo.row.id, issueId: issue.row.id, entryId };
  const { inserted, found } = await batch(db, {
    ...insertion,
    claims: claimUploads(ctx, claimant, body),
    found: comment,
    state,
  }).catch((error: unknown) => {
    throw asEditRefusal(asBlocked(error, "timeline_entries.body"));
  });
  const [created] = found;
  // Locked since it was read.
  if (!created || (!inserted[0] && unlessSince === undefined)) throw forbidden(LOCKED);
  return toCommentContext(repo, created);
}

interface NewComment {
  readonly participation: ParticipationArgument;
  readonly repoId: number;
  readonly body: string;
  readonly unlessSince: number | undefined;
  readonly entry: EntryArgument;
  readonly event: EventArgument;
}

const insertComment = prepareAll((db, p: Params<NewComment>) => {
  const { participation, repoId, body, entry, unlessSince } = p;
  const { issueId } = participation;
  const newest = newestEntryId(issueId);
  const sameId =
    unlessSince &&
    sql`(
      select max(${timelineEntries.id})
      from ${timelineEntries}
      where ${timelineEntries.issueId} = ${issueId}
        and ${isComment}
        and ${timelineEntries.posterId} = ${participation.actorId}
        and ${timelineEntries.createdAt} >= ${unlessSince}
        and ${timelineEntries.body} = ${body}
    )`;
  const comment = {
    repoId,
    issueId,
    kind: "comment" as const,
    ...entry,
    body: unlessBlocked(isKeptOut(participation), body),
  };
  return {
    inserted: insertSelect(
      db,
      timelineEntries,
      comment,
      sql`
        from ${issues}
        where ${and(isParticipationAllowed(participation), sameId && sql`${sameId} is null`)}`,
    ).returning({ id: timelineEntries.id }),
    touched: db
      .update(issues)
      .set({ updatedAt: entry.updatedAt })
      .where(and(eq(issues.id, issueId), sql`changes() > 0`)),
    event: recordBy(db, p.event, { commentId: newest }, IF_CHANGED),
    found: selectComments(db).where(eq(timelineEntries.id, sameId ?? newest)),
  };
});

/** Selects the id of the last comment of the caller on an issue since a time. */
const ownSince = ({ actor }: Ctx, issueId: number, since: number) => sql<number>`(
  select max(${timelineEntries.id})
  from ${timelineEntries}
  where ${timelineEntries.issueId} = ${issueId}
    and ${isComment}
    and ${timelineEntries.posterId} = ${actor.user?.id ?? null}
    and ${timelineEntries.createdAt} >= ${since}
)`;

/** The id of the entry that this batch has just added to the timeline of an issue. */
const newestEntryId = (issueId: SQL): SQL => sql`(
  select max(${timelineEntries.id})
  from ${timelineEntries}
  where ${timelineEntries.issueId} = ${issueId}
)`;
