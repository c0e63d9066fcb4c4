import { and, asc, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { codeComments, reactions, reviews, timelineEntries } from "../../../db/schema/index.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import {
  groupReactions,
  type ReactionCount,
  selectReactionCounts,
} from "../../issues/reactions/count-reactions.ts";
import {
  timelineIds,
  type TimelineList,
  timelineList,
} from "../../issues/timeline/list-timeline.ts";
import type { Slice } from "../../slice.ts";
import { selectCodeComments, toCodeCommentContext } from "./find-code-comments.ts";
import { idOfPull } from "./find-review.ts";
import { SHOWN_COMMENTS_MAX } from "./read-code-review.ts";
import { isReviewVisible } from "./review-states.ts";

/** Conversations about code that a page of a timeline shows with its reviews. */
export interface ReviewConversations {
  /** The comments of the reviews and the answers to them, oldest first. */
  readonly comments: readonly CodeCommentContext[];
  readonly isCut: boolean;
  readonly reactions: ReadonlyMap<number | null, readonly ReactionCount[]>;
  /** Whether the caller has begun a review. */
  readonly hasPending: boolean;
}

const ALL_TIMES = { since: undefined, before: undefined };

/**
 * Reads what the reviews of a page of a timeline say about code, with the answers of others.
 *
 * Cost: one round trip; of rows, those of the comments.
 *
 * @param onPageOf As in `openConversation`.
 */
export async function readConversations(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
  onPageOf?: number,
): Promise<ReviewConversations> {
  const { db, actor } = ctx;
  const list = timelineList(ctx, repo, number, ALL_TIMES, slice, onPageOf);
  const found = await batch(db, ofPage(db, { list, userId: actor.user?.id ?? 0 }));
  const pull = { repo, row: { number, isPull: true } };
  return {
    comments: found.comments
      .slice(0, SHOWN_COMMENTS_MAX)
      .map((row) => toCodeCommentContext(pull, row)),
    isCut: found.comments.length > SHOWN_COMMENTS_MAX,
    reactions: groupReactions(found.reacted),
    hasPending: found.pending.length > 0,
  };
}

/** The ids of a page's entries. */
const listed = derivedTable("listed_entries", "id");

const ofPage = prepareAll(
  (db, { list, userId }: Params<{ list: TimelineList; userId: number }>) => {
    const reviewIds = sql`
      select ${timelineEntries.reviewId}
      from ${timelineIds(list)} ${listed} join ${timelineEntries}
        on ${timelineEntries.id} = ${listed.id}
      where ${timelineEntries.kind} = 'review'`;
    const ids = sql`(
      select own.entry_id
      from ${codeComments} own
      where own.review_id in (${reviewIds})
      union
      select answer.entry_id
      from ${codeComments} answer
      where answer.root_id in (
        select root.entry_id from ${codeComments} root where root.review_id in (${reviewIds})
      )
    )`;
    return {
      comments: selectCodeComments(db)
        .where(allOf(sql`${codeComments.entryId} in ${ids}`, isReviewVisible(userId)))
        .orderBy(asc(codeComments.entryId))
        .limit(SHOWN_COMMENTS_MAX + 1),
      pending: db
        .select({ id: reviews.id })
        .from(reviews)
        .where(
          and(
            sql`${reviews.issueId} = ${idOfPull(list.repoId, list.number)}`,
            eq(reviews.reviewerId, userId),
            sql`${reviews.state} = 'pending'`,
          ),
        ),
      reacted: selectReactionCounts(db, userId).where(sql`${reactions.entryId} in ${ids}`),
    };
  },
);
