import { eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { issues, timelineEntries } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { CommentContext } from "../../../shapes/issues/comment.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered, selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { selectComments, toCommentContext } from "./select-comments.ts";
import { isSubmittedOrBy } from "./written-entries.ts";

/** A comment of a repository by its id, as an argument of a query. */
export interface CommentKey {
  readonly id: number;
  readonly repoId: number;
  readonly userId: number | undefined;
}

export const toCommentKey = (
  { actor }: Ctx,
  { row }: RepositoryContext,
  id: number,
): CommentKey => ({
  id,
  repoId: row.id,
  userId: actor.user?.id,
});

/**
 * The condition for a comment of a repository by its id, which may be one on code.
 *
 * SECURITY: one of a pending review is its author's alone.
 */
export const isCommentWithKey = ({ id, repoId, userId }: Params<CommentKey> | CommentKey): SQL =>
  allOf(
    eq(timelineEntries.id, id),
    eq(timelineEntries.repoId, repoId),
    sql`${timelineEntries.kind} in ('comment', 'code')`,
    isSubmittedOrBy(userId),
  );

/** Selects the id of the issue of a comment. */
const issueIdOfComment = (key: Params<CommentKey>): SQL => sql`(
  select ${timelineEntries.issueId} from ${timelineEntries} where ${isCommentWithKey(key)}
)`;

/** An issue or pull request itself, or a comment of one, as an argument of a query. */
export type IssueOrComment =
  | { readonly repoId: number; readonly number: number }
  | { readonly comment: CommentKey };

/**
 * The condition for the issue that a query is about, itself or by a comment, and a subquery of its
 * id.
 */
export function issueOf(subject: Params<IssueOrComment>): { isOfIssue: SQL; issueId: SQL } {
  const isOfIssue =
    "comment" in subject
      ? eq(issues.id, issueIdOfComment(subject.comment))
      : isNumbered(subject.repoId, subject.number);
  const issueId = sql`(
    select ${issues.id}
    from ${issues}
    where ${isOfIssue}
  )`;
  return { isOfIssue, issueId };
}

export const oneComment = prepare((db, key: Params<CommentKey>) =>
  selectComments(db).where(isCommentWithKey(key)),
);

const commentAndIssue = prepareAll((db, key: Params<CommentKey>) => ({
  comments: selectComments(db).where(isCommentWithKey(key)),
  issues: selectIssues(db).where(eq(issues.id, issueIdOfComment(key))),
}));

/**
 * Finds a comment of a repository.
 *
 * @throws Failure `not_found` also for other entries of timelines, and where the caller may not see
 *   its issue.
 */
export async function findComment(
  ctx: Ctx,
  repo: RepositoryContext,
  id: number,
): Promise<CommentContext> {
  const [row] = await oneComment(ctx.db, toCommentKey(ctx, repo, id));
  if (!row || !isIssueVisible(repo, row)) throw noComment();
  return toCommentContext(repo, row);
}

/**
 * Like `findComment`, with its issue or pull request.
 *
 * @param number The number of the issue, where the path names it.
 */
export async function findCommentAndIssue(
  ctx: Ctx,
  repo: RepositoryContext,
  id: number,
  number?: number,
): Promise<{ comment: CommentContext; issue: IssueContext }> {
  const { db } = ctx;
  const { comments, issues: found } = await batch(
    db,
    commentAndIssue(db, toCommentKey(ctx, repo, id)),
  );
  const [row] = comments;
  const [issue] = found;
  if (!row || !issue || !isIssueVisible(repo, row)) throw noComment();
  if (number !== undefined && row.number !== number) throw noComment();
  return { comment: toCommentContext(repo, row), issue: toIssueContext(repo, issue) };
}

const noComment = () => notFound("comment does not exist");
