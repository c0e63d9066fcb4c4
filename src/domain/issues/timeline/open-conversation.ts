import { asc, eq, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, columnsOf } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  type Attachment,
  attachments,
  issues,
  reactions,
  reviews,
  type ReviewState,
  stopwatches,
  timelineEntries,
  trackedTimes,
  type User,
  users,
} from "../../../db/schema/index.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { TimelineContext } from "../../../shapes/issues/timeline-comment.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import { isComment } from "../comments/select-comments.ts";
import { isIssueWritable, isNumbered } from "../issue/find-issue.ts";
import { isLabelWriter } from "../../repos/labels/label-owner.ts";
import {
  groupReactions,
  type ReactionCount,
  selectReactionCounts,
} from "../reactions/count-reactions.ts";
import { type IssueChoices, issueChoices } from "../lists/list-choices.ts";
import { subscriptionTo, toSubscription } from "../notifications/issue-subscriptions.ts";
import { toVersion, versionByNumber } from "./conversation-version.ts";
import {
  timelineIds,
  type TimelineList,
  timelineList,
  timelinePage,
  toTimeline,
} from "./list-timeline.ts";

/** An entry of a timeline as a page shows it. */
export interface ConversationEntry {
  readonly entry: TimelineContext;
  readonly attachments: readonly Attachment[];
  /** The most frequent first. */
  readonly reactions: readonly ReactionCount[];
  /** The state of the review that it reports; undefined for other entries. */
  readonly review: ReviewState | undefined;
}

/** An issue or pull request with a page of its timeline, and what its page shows beside it. */
export interface Conversation {
  readonly issue: IssueContext;
  readonly entries: Listed<ConversationEntry>;
  /** The number of entries before those of the page. */
  readonly offset: number;
  /** The reactions to the issue itself. */
  readonly reactions: readonly ReactionCount[];
  /** Who wrote in it, as far as the list goes. */
  readonly participants: readonly User[];
  readonly isSubscribed: boolean;
  /** The time spent on it that the caller may see: all of it, or their own. */
  readonly spentSeconds: number;
  /** When the caller's stopwatch was started; undefined if it does not run. */
  readonly stopwatchAt: number | undefined;
  /** What a writer may choose; undefined for other callers. */
  readonly choices: IssueChoices | undefined;
  /** Differs as soon as something of it changes. */
  readonly version: string;
}

const ALL_TIMES = { since: undefined, before: undefined };

/** Participants that are listed. */
const PARTICIPANTS_MAX = 30;

/**
 * Reads an issue or pull request of a repository with a page of its timeline, oldest entries first.
 *
 * Cost: one round trip, of one batch.
 *
 * @param onPageOf The id of an entry whose page is read, instead of that at the offset.
 * @throws Failure `not_found` also where the caller may not see it.
 */
export async function openConversation(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
  onPageOf?: number,
): Promise<Conversation> {
  const { db, actor } = ctx;
  const userId = actor.user?.id ?? 0;
  const { id: repoId, ownerId } = repo.row;
  const list = timelineList(ctx, repo, number, ALL_TIMES, slice, onPageOf);
  const mayChoose = isLabelWriter(repo);
  const { subscription, labelChoices, milestoneChoices, ...found } = await batch(db, {
    ...timelinePage(db, list),
    ...besides(db, { list, userId }),
    subscription: subscriptionTo(db, { repoId, number, userId }),
    versions: versionByNumber(db, { repoId, number }),
    ...(mayChoose ? namedChoices(issueChoices(db, { repoId, ownerId })) : {}),
  });
  const { issue, entries, offset } = toTimeline(ctx, repo, found);
  const isWriter = isIssueWritable(issue);
  const attachmentsById = Map.groupBy(
    found.files.map(({ file }) => file),
    ({ entryId }) => entryId,
  );
  const reactionsById = groupReactions(found.reactionCounts);
  const reviewStates = new Map<number | null, ReviewState>(
    found.reviews.map(({ id, state }) => [id, state]),
  );
  const reactionsTo = (entryId: number | null) => reactionsById.get(entryId) ?? [];
  const times = found.spent.filter((each) => isWriter || each.userId === userId);
  return {
    issue,
    offset,
    entries: {
      ...entries,
      items: entries.items.map((entry) => ({
        entry,
        attachments: attachmentsById.get(entry.row.id) ?? [],
        reactions: reactionsTo(entry.row.id),
        review: entry.row.kind === "review" ? reviewStates.get(entry.row.reviewId) : undefined,
      })),
    },
    reactions: reactionsTo(null),
    participants: found.participants.map(({ user }) => user),
    isSubscribed: toSubscription(repo, subscription[0]).isSubscribed,
    spentSeconds: times.reduce((sum, { seconds }) => sum + seconds, 0),
    stopwatchAt: found.stopwatch[0]?.createdAt,
    version: found.versions[0] ? await toVersion(found.versions[0]) : "",
    choices:
      isWriter && labelChoices && milestoneChoices
        ? { labels: labelChoices, milestones: milestoneChoices }
        : undefined,
  };
}

/** The statements for choices, under names that the statements of a timeline do not have. */
const namedChoices = <L, M>({ labels, milestones }: { labels: L; milestones: M }) => ({
  labelChoices: labels,
  milestoneChoices: milestones,
});

/** The ids of a page's entries. */
const listed = derivedTable("listed_entries", "id");

/** Reactions and files of a page's entries, and what belongs to the issue as a whole. */
const besides = prepareAll(
  (db, { list, userId }: Params<{ list: TimelineList; userId: number }>) => {
    const issueId = sql`(
    select ${issues.id} from ${issues}
    where ${isNumbered(list.repoId, list.number)}
  )`;
    // As a table: SQLite takes 100 levels of expressions, which the condition on entries may have.
    const page = sql`${timelineIds(list)} ${listed}`;
    return {
      reactionCounts: selectReactionCounts(db, userId)
        .leftJoin(page, eq(listed.id, reactions.entryId))
        .where(
          allOf(
            eq(reactions.issueId, issueId),
            or(isNull(reactions.entryId), isNotNull(listed.id)),
          ),
        ),
      files: db
        .select({ file: columnsOf(attachments, "a") })
        .from(attachments)
        .innerJoin(page, eq(listed.id, attachments.entryId))
        .orderBy(asc(attachments.id)),
      reviews: db
        .select({ id: reviews.id, state: reviews.state })
        .from(reviews)
        .innerJoin(timelineEntries, eq(timelineEntries.reviewId, reviews.id))
        .innerJoin(page, eq(listed.id, timelineEntries.id)),
      participants: db
        .select({ user: columnsOf(users, "u") })
        .from(users)
        .where(
          inArray(
            users.id,
            sql`(
            select ${issues.posterId} from ${issues} where ${issues.id} = ${issueId}
            union
            select ${timelineEntries.posterId} from ${timelineEntries}
            where ${timelineEntries.issueId} = ${issueId} and ${isComment}
            union
            select ${reviews.reviewerId} from ${reviews}
            where ${reviews.issueId} = ${issueId}
              and ${reviews.state} in ('approved', 'request_changes', 'comment')
          )`,
          ),
        )
        .orderBy(asc(users.lowerName))
        .limit(PARTICIPANTS_MAX),
      spent: db
        .select({
          userId: trackedTimes.userId,
          seconds: sql<number>`sum(${trackedTimes.seconds})`.as("seconds"),
        })
        .from(trackedTimes)
        .where(eq(trackedTimes.issueId, issueId))
        .groupBy(trackedTimes.userId),
      stopwatch: db
        .select({ createdAt: stopwatches.createdAt })
        .from(stopwatches)
        .where(allOf(eq(stopwatches.userId, userId), eq(stopwatches.issueId, issueId))),
    };
  },
);
