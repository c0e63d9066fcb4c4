import { z } from "zod";

import { optionalLong, optionalShort, shortText, time } from "../fields.ts";
import type { ForeignCodeComment } from "../forge.ts";
import { Account, Id, ReactionCounts, filledText } from "./fields.ts";
import type { GitHubApi } from "./github-api.ts";
import { reactionCost, readReactions } from "./reactions.ts";

/** @see https://docs.github.com/en/rest/pulls/comments#list-review-comments-on-a-pull-request */
export const LineComment = z.object({
  id: Id,
  /** Null for comments from before there were reviews. */
  pull_request_review_id: Id.nullish(),
  in_reply_to_id: Id.nullish(),
  user: Account,
  body: optionalLong,
  path: filledText,
  /** The last line of several; null if it is outdated. */
  line: z.int().positive().nullish(),
  side: z.enum(["LEFT", "RIGHT"]).nullish(),
  /** `line`, or `file` for a comment on the whole file. */
  subject_type: shortText.nullish(),
  commit_id: optionalShort,
  original_commit_id: optionalShort,
  diff_hunk: optionalLong,
  reactions: ReactionCounts,
  created_at: time,
  updated_at: time,
});
export type LineComment = z.infer<typeof LineComment>;

/** For the reactions of the comments of one review, at most this many requests are made. */
const REACTION_REQUESTS_MAX = 10;

/** How many requests the reactions of the comments of a review take. */
export const codeReactionCost = (comments: readonly LineComment[]): number =>
  Math.min(
    comments.reduce((sum, { reactions }) => sum + reactionCost(reactions), 0),
    REACTION_REQUESTS_MAX,
  );

/**
 * Converts the comments of a review, and reads their reactions: of the first ones, if there are
 * very many.
 */
export async function readCodeComments(
  api: GitHubApi,
  comments: readonly LineComment[],
): Promise<ForeignCodeComment[]> {
  const converted: ForeignCodeComment[] = [];
  let requestCount = 0;
  for (const comment of comments) {
    requestCount += reactionCost(comment.reactions);
    const counts = requestCount > REACTION_REQUESTS_MAX ? undefined : comment.reactions;
    const line = comment.subject_type === "file" ? 0 : (comment.line ?? 0);
    converted.push({
      foreignId: String(comment.id),
      answersId: comment.in_reply_to_id ? String(comment.in_reply_to_id) : "",
      poster: comment.user,
      body: comment.body,
      path: comment.path,
      line,
      isOnOldSide: comment.side === "LEFT",
      commitOid: comment.line ? comment.commit_id : comment.original_commit_id,
      hunk: comment.diff_hunk,
      // Only GitHub's GraphQL API knows who resolved a conversation.
      isResolved: false,
      reactions: await readReactions(api, `/pulls/comments/${comment.id}`, counts),
      createdAt: comment.created_at,
      updatedAt: comment.updated_at,
    });
  }
  return converted;
}
