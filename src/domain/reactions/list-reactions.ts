import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { issues, reactions, timelineEntries } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { ReactionContext } from "../../shapes/issues/reaction.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isCommentOf } from "../comments/find-comment.ts";
import { isIssueVisible, isNumbered } from "../issues/find-issue.ts";
import type { Listed, Slice } from "../slice.ts";
import { isReactionToComment, isReactionToIssue, selectReactions } from "./select-reactions.ts";

/**
 * Lists a page of the reactions to an issue or pull request itself, oldest first.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export function listIssueReactions(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<ReactionContext>> {
  const isOfIssue = isNumbered(repo.row.id, number);
  const issueId = sql`(
    select ${issues.id}
    from ${issues}
    where ${isOfIssue}
  )`;
  return listReactions(ctx, repo, isOfIssue, isReactionToIssue(issueId), slice);
}

/** Lists a page of the reactions to a comment, as `listIssueReactions` does. */
export function listCommentReactions(
  ctx: Ctx,
  repo: RepositoryContext,
  id: number,
  slice: Slice,
): Promise<Listed<ReactionContext>> {
  const issueId = sql`(
    select ${timelineEntries.issueId}
    from ${timelineEntries}
    where ${isCommentOf(ctx, repo, id)}
  )`;
  return listReactions(ctx, repo, eq(issues.id, issueId), isReactionToComment(id), slice);
}

async function listReactions(
  { db }: Ctx,
  repo: RepositoryContext,
  isOfIssue: SQL | undefined,
  isListed: SQL | undefined,
  { size, offset }: Slice,
): Promise<Listed<ReactionContext>> {
  const [[issue], [counted], items] = await db.batch([
    db.select({ isPull: issues.isPull }).from(issues).where(isOfIssue),
    db.select({ total: count() }).from(reactions).where(isListed),
    selectReactions(db).where(isListed).orderBy(asc(reactions.id)).limit(size).offset(offset),
  ]);
  if (!issue || !isIssueVisible(repo, issue)) throw notFound();
  return { items, total: counted?.total ?? 0 };
}
