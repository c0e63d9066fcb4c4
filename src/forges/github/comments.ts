import { z } from "zod";

import { optionalLong, shortText, time } from "../fields.ts";
import type { ForeignComment, ForeignFilter, ForeignPage } from "../forge.ts";
import { Account, Id, ReactionCounts } from "./fields.ts";
import type { GitHubApi } from "./github-api.ts";
import { convertPage, readListPage } from "./list-page.ts";
import { reactionCost, readReactions } from "./reactions.ts";
import { formatSince } from "./threads.ts";

/** @see https://docs.github.com/en/rest/issues/comments#list-issue-comments-for-a-repository */
const Comment = z.object({
  id: Id,
  body: optionalLong,
  user: Account,
  reactions: ReactionCounts,
  created_at: time,
  updated_at: time,
  /** The issue or pull request, whose number is its end. */
  issue_url: z
    .string()
    .regex(/\/issues\/[1-9]\d{0,9}$/)
    .transform((url): number => Number(url.slice(url.lastIndexOf("/") + 1))),
  /** Distinguishes comments of issues from those of pull requests. */
  html_url: shortText,
});
type Comment = z.infer<typeof Comment>;

/**
 * Reads a page of the comments of all issues and pull requests, oldest first, without those on
 * code.
 */
export async function readComments(
  api: GitHubApi,
  cursor: string | undefined,
  { includesIssues, includesPulls, since }: ForeignFilter,
): Promise<ForeignPage<ForeignComment>> {
  const page = await readListPage(
    api,
    `${api.path}/issues/comments`,
    Comment,
    { sort: "created", direction: "asc", since: formatSince(since) },
    cursor,
  );
  const isIncluded = (comment: Comment): boolean =>
    /\/pull\/\d+(?:#|$)/.test(comment.html_url) ? includesPulls : includesIssues;

  return convertPage(
    page,
    (comment) => (isIncluded(comment) ? reactionCost(comment.reactions) : 0),
    async (comment) => (isIncluded(comment) ? toComment(api, comment) : undefined),
  );
}

async function toComment(api: GitHubApi, comment: Comment): Promise<ForeignComment> {
  const { id, issue_url: number, user, body, created_at, updated_at } = comment;
  return {
    kind: "comment",
    foreignId: String(id),
    number,
    poster: user,
    body,
    reactions: await readReactions(api, `/issues/comments/${id}`, comment.reactions),
    createdAt: created_at,
    updatedAt: updated_at,
  };
}
