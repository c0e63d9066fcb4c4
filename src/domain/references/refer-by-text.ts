import { and, eq, sql } from "drizzle-orm";

import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { issues, repositories, timelineEntries, type Issue } from "../../db/schema/index.ts";
import type { Consequence } from "../../events/consequence.ts";
import { isIssueVisible } from "../issues/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import { insertMentions } from "./insert-mentions.ts";
import { findReferences } from "./find-references.ts";
import { type ReferringText, updateReferences } from "./update-references.ts";

/**
 * Tells issues of the issues, pull requests and comments that refer to them, and stores who is mentioned.
 *
 * Works on the texts as they are now: an edit in the meantime is an event of its own, and comes to the same. References
 * that an edit removed are removed; mentions stay, since another text may mention the same account.
 */
export const referByText: Consequence = {
  name: "text-references",
  kinds: ["issue.opened", "issue.edited", "comment.created", "comment.edited"],
  async handle(ctx, { event }, budget) {
    if (!("issueId" in event) || ctx.actor.user === undefined) return undefined;
    budget.consume(8);
    const text = await readText(
      ctx,
      event.repoId,
      event.issueId,
      "commentId" in event ? event.commentId : undefined,
    );
    // Who lost access meanwhile refers to nothing.
    if (!text || !isIssueVisible(text.repo, text.issue)) return undefined;
    const found = findReferences(text.body, { isMarkdown: true, rootUrls: [ctx.publicUrl] });
    await updateReferences(ctx, text, found.issues);
    await insertMentions(ctx, text, found);
    return undefined;
  },
};

/** Reads a comment, or an issue with its title; undefined if it was deleted. */
async function readText(
  { db, actor }: Ctx,
  repoId: number,
  issueId: number,
  commentId: number | undefined,
): Promise<(ReferringText & { readonly body: string }) | undefined> {
  const [[repoRow], [issue], [comment]] = await db.batch([
    selectRepositories(db, callerSql(actor)).where(eq(repositories.id, repoId)),
    db
      .select()
      .from(issues)
      .where(and(eq(issues.id, issueId), eq(issues.repoId, repoId))),
    db
      .select({ body: timelineEntries.body })
      .from(timelineEntries)
      .where(
        and(
          eq(timelineEntries.id, commentId ?? 0),
          eq(timelineEntries.issueId, issueId),
          sql`${timelineEntries.kind} = 'comment'`,
        ),
      ),
  ]);
  if (!repoRow || !issue) return undefined;
  const repo = toRepositoryContext(actor, repoRow);
  if (commentId === undefined) return { repo, issue, commentId, body: textOf(issue) };
  return comment && { repo, issue, commentId, body: comment.body };
}

/** A title is one line, which refers to issues as the body does. */
const textOf = ({ title, body }: Issue): string => `${title}\n\n${body}`;
