import { asc, count } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, reactions } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { ReactionContext } from "../../../shapes/issues/reaction.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type IssueOrComment, issueOf, toCommentKey } from "../comments/find-comment.ts";
import { isIssueVisible } from "../issue/find-issue.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { isReactionToComment, isReactionToIssue, selectReactions } from "./select-reactions.ts";

/**
 * Lists a page of the reactions to an issue or pull request itself, oldest first.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export const listIssueReactions = (
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<ReactionContext>> =>
  listReactions(ctx, repo, { repoId: repo.row.id, number }, slice);

/** Lists a page of the reactions to a comment, as `listIssueReactions` does. */
export const listCommentReactions = (
  ctx: Ctx,
  repo: RepositoryContext,
  id: number,
  slice: Slice,
): Promise<Listed<ReactionContext>> =>
  listReactions(ctx, repo, { comment: toCommentKey(ctx, repo, id) }, slice);

async function listReactions(
  { db }: Ctx,
  repo: RepositoryContext,
  subject: IssueOrComment,
  { size, offset }: Slice,
): Promise<Listed<ReactionContext>> {
  const {
    issues: [issue],
    ...page
  } = await batch(db, reactionsTo(db, { subject, size, offset }));
  if (!issue || !isIssueVisible(repo, issue)) throw notFound();
  return toListedPage(page);
}

const reactionsTo = prepareAll(
  (db, { subject, size, offset }: Params<Slice & { subject: IssueOrComment }>) => {
    const { isOfIssue, issueId } = issueOf(subject);
    const isListed =
      "comment" in subject ? isReactionToComment(subject.comment.id) : isReactionToIssue(issueId);
    return {
      issues: db.select({ isPull: issues.isPull }).from(issues).where(isOfIssue),
      counted: db
        .select({ total: count().as("total") })
        .from(reactions)
        .where(isListed),
      rows: selectReactions(db)
        .where(isListed)
        .orderBy(asc(reactions.id))
        .limit(size)
        .offset(offset),
    };
  },
);
