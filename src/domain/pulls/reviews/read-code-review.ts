import { and, asc, count, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  codeComments,
  reactions,
  type Review,
  reviews,
  viewedFiles,
} from "../../../db/schema/index.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import {
  groupReactions,
  type ReactionCount,
  selectReactionCounts,
} from "../../issues/reactions/count-reactions.ts";
import { selectCodeComments, toCodeCommentContext } from "./find-code-comments.ts";
import { pendingReview } from "./find-review.ts";
import { isReviewVisible } from "./review-states.ts";

/** Comments that a page shows beside the code, at most. */
export const SHOWN_COMMENTS_MAX = 500;

/** What readers have said about the code of a pull request, as one of them sees it. */
export interface CodeReview {
  /** The comments on some of its files, oldest first. */
  readonly comments: readonly CodeCommentContext[];
  /** Whether there are more of them than `SHOWN_COMMENTS_MAX`. */
  readonly isCut: boolean;
  /** The reactions to them, by their ids. */
  readonly reactions: ReadonlyMap<number | null, readonly ReactionCount[]>;
  /** How many comments each file has, by its path. */
  readonly counts: ReadonlyMap<string, number>;
  /** The caller's review that is not submitted. */
  readonly pending: Review | undefined;
  /** The objects of files that the caller has viewed, by their paths. */
  readonly viewed: ReadonlyMap<string, string>;
}

/**
 * Reads what the page of a pull request's changes shows beside the code: comments that are not
 * outdated, of the files that it shows, and for all files their numbers.
 *
 * Cost: one round trip; of rows, those of the files' comments, and of the files that the caller has
 * viewed.
 */
export async function readCodeReview(
  { db, actor }: Ctx,
  pull: PullContext,
  paths: readonly string[],
): Promise<CodeReview> {
  const userId = actor.user?.id ?? 0;
  const issueId = pull.row.id;
  const { comments, counts, viewed, reacted, pending } = await batch(db, {
    ...ofFiles(db, { issueId, userId, paths }),
    pending: pendingReview(db, { issueId, reviewerId: userId }),
  });
  return {
    comments: comments.slice(0, SHOWN_COMMENTS_MAX).map((row) => toCodeCommentContext(pull, row)),
    isCut: comments.length > SHOWN_COMMENTS_MAX,
    reactions: groupReactions(reacted),
    counts: new Map(counts.map(({ path, total }) => [path, total])),
    pending: pending[0],
    viewed: new Map(viewed.map(({ path, oid }) => [path, oid])),
  };
}

interface FilesOfReader {
  readonly issueId: number;
  /** 0 for an anonymous caller. */
  readonly userId: number;
  readonly paths: readonly string[];
}

const ofFiles = prepareAll((db, { issueId, userId, paths }: Params<FilesOfReader>) => {
  const isShown = allOf(
    eq(codeComments.issueId, issueId),
    eq(codeComments.isOutdated, false),
    isReviewVisible(userId),
  );
  const isOfFiles = sql`${codeComments.path} in ${paths}`;
  return {
    comments: selectCodeComments(db)
      .where(and(isShown, isOfFiles))
      .orderBy(asc(codeComments.entryId))
      .limit(SHOWN_COMMENTS_MAX + 1),
    counts: db
      .select({ path: codeComments.path, total: count().as("total") })
      .from(codeComments)
      .innerJoin(reviews, eq(reviews.id, codeComments.reviewId))
      .where(isShown)
      .groupBy(codeComments.path),
    viewed: db
      .select({ path: viewedFiles.path, oid: viewedFiles.oid })
      .from(viewedFiles)
      .where(and(eq(viewedFiles.issueId, issueId), eq(viewedFiles.userId, userId))),
    reacted: selectReactionCounts(db, userId).where(
      sql`${reactions.issueId} = ${issueId} and ${reactions.entryId} in (
        select ${codeComments.entryId} from ${codeComments}
        where ${codeComments.issueId} = ${issueId} and ${isOfFiles}
      )`,
    ),
  };
});
