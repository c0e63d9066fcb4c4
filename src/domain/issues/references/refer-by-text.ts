import { and, eq, gt, inArray, type SQL, sql } from "drizzle-orm";

import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { anyOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { events, issues, repositories, timelineEntries } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { isEntrySubmitted, WRITTEN_KINDS } from "../comments/written-entries.ts";
import { isIssueVisible } from "../issue/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { insertMentions } from "./insert-mentions.ts";
import { findIssueReferences, findReferences } from "./find-references.ts";
import { type ReferringText, updateReferences } from "./update-references.ts";

/** Texts of a review that one step reads. */
const TEXTS_AT_ONCE = 20;

/**
 * The condition that `findReferences` may find something in a text. Not by `glob` or `like`, which
 * end at a NUL.
 */
export const hasReference = (text: SQL): SQL =>
  anyOf(...["#", "!", "@", "/issues/", "/pulls/"].map((each) => sql`instr(${text}, ${each})`));

/**
 * The condition, over `events`, that the text of an event may refer to something, or that its issue
 * did before.
 */
const mayRefer: SQL = (() => {
  const ofEvent = (field: "issueId" | "commentId"): SQL =>
    sql`(${events.payload} ->> ${sql.raw(`'${field}'`)})`;
  const issueText = sql`${issues.title} || ' ' || ${issues.body}`;
  return sql`case
    when exists (
      select 1 from ${timelineEntries} where ${timelineEntries.otherIssueId} = ${ofEvent("issueId")}
    )
      then 1
    when ${events.type} in ('issue.opened', 'issue.edited')
      then exists (
        select 1 from ${issues}
        where ${issues.id} = ${ofEvent("issueId")} and ${hasReference(issueText)}
      )
    when ${events.type} in ('comment.created', 'comment.edited')
      then exists (
        select 1 from ${timelineEntries}
        where ${timelineEntries.id} = ${ofEvent("commentId")}
          and ${hasReference(sql`${timelineEntries.body}`)}
      )
    else 1
  end`;
})();

/**
 * Lists issues, pull requests, comments and reviews in the timelines of the issues to which they
 * refer, and stores who is mentioned.
 *
 * Works on the texts as they are now: an edit in the meantime is an event of its own, and comes to
 * the same. References that an edit removed are removed; mentions stay, since another text may
 * mention the same account.
 */
export const referByText: Consequence = {
  name: "text-references",
  kinds: ["issue.opened", "issue.edited", "comment.created", "comment.edited", "review.submitted"],
  isNeeded: mayRefer,
  async handle(ctx, { event }, budget, state) {
    if (!("issueId" in event) || ctx.actor.user === undefined) return undefined;
    budget.consume(4);
    const afterId = typeof state === "number" ? state : 0;
    const { subject, texts } = await readTexts(ctx, event, afterId);
    // The caller may have lost access meanwhile.
    if (!subject || !isIssueVisible(subject.repo, subject.issue)) return undefined;
    for (const { commentId, body } of texts) {
      budget.consume(4);
      const text: ReferringText = { ...subject, commentId };
      const rootUrls = [ctx.publicUrl];
      const found =
        commentId === undefined
          ? findIssueReferences(subject.issue, rootUrls)
          : findReferences(body, { isMarkdown: true, rootUrls });
      await updateReferences(ctx, text, found.issues);
      await insertMentions(ctx, text, found);
    }
    return texts.length < TEXTS_AT_ONCE ? undefined : texts.at(-1)?.commentId;
  },
};

type TextEvent = Extract<Parameters<Consequence["handle"]>[1]["event"], { issueId: number }>;

/**
 * Reads a comment, a part of the texts of a review, or an issue with its title; nothing if it was
 * deleted.
 *
 * SECURITY: a pending review refers to nothing, since it is its author's alone.
 */
async function readTexts({ db, actor }: Ctx, event: TextEvent, afterId: number) {
  const { repoId, issueId } = event;
  const commentId = "commentId" in event ? event.commentId : undefined;
  const reviewId = "reviewId" in event ? event.reviewId : undefined;
  const caller = callerArgument(actor);
  const {
    repos: [repoRow],
    issues: [issue],
    texts: written,
  } = await batch(
    db,
    textsOfEvent(db, { caller, repoId, issueId, afterId, commentId: commentId ?? 0, reviewId }),
  );
  const subject = repoRow && issue && { repo: toRepositoryContext(actor, repoRow), issue };
  const isOfIssue = commentId === undefined && reviewId === undefined;
  return {
    subject,
    texts: isOfIssue && issue ? [{ commentId: undefined, body: issue.body }] : written,
  };
}

interface TextsOfEvent {
  readonly caller: CallerArgument;
  readonly repoId: number;
  readonly issueId: number;
  readonly afterId: number;
  /** Counts if there is no review. */
  readonly commentId: number;
  readonly reviewId: number | undefined;
}

const textsOfEvent = prepareAll((db, p: Params<TextsOfEvent>) => ({
  repos: selectRepositories(db, toCallerSql(p.caller)).where(eq(repositories.id, p.repoId)),
  issues: db
    .select()
    .from(issues)
    .where(and(eq(issues.id, p.issueId), eq(issues.repoId, p.repoId))),
  texts: db
    .select({ commentId: timelineEntries.id, body: timelineEntries.body })
    .from(timelineEntries)
    .where(
      and(
        p.reviewId === undefined
          ? eq(timelineEntries.id, p.commentId)
          : eq(timelineEntries.reviewId, p.reviewId),
        gt(timelineEntries.id, p.afterId),
        eq(timelineEntries.issueId, p.issueId),
        inArray(timelineEntries.kind, WRITTEN_KINDS),
        isEntrySubmitted,
      ),
    )
    .orderBy(timelineEntries.id)
    .limit(TEXTS_AT_ONCE),
}));
