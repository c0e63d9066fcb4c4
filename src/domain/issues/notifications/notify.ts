import { and, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import { reachOf } from "../../../auth/access/people.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { anyOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  type DequeueReason,
  events,
  type Issue,
  issueAssignees,
  issues,
  issueSubscriptions,
  repositories,
  type Repository,
  reviews,
  timelineEntries,
  users,
  watches,
} from "../../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../../events/consequence.ts";
import { unitOf } from "../issue/find-issue.ts";
import { isMailOn } from "../../people/mail/queue-mail.ts";
import { findReferences } from "../references/find-references.ts";
import { selectEventTexts } from "./event-texts.ts";
import { notifyRecipients } from "./notify-recipients.ts";
import type { Audience } from "./recipients.ts";

type EventType = RecordedEvent["event"]["type"];

/** Users of the audience whom one step notifies. */
const NOTIFIED_AT_ONCE = 500;

/**
 * The condition, over `events`, that an event may concern somebody besides its actor, or that the
 * actor has mails about what they do themselves.
 */
const mayNotify: SQL = (() => {
  const ofEvent = (field: "issueId" | "commentId"): SQL =>
    sql`(${events.payload} ->> ${sql.raw(`'${field}'`)})`;
  const isOther = (userId: SQLiteColumn): SQL => sql`${userId} <> ${events.actorId}`;
  const ofIssue = (issueId: SQLiteColumn): SQL => sql`${issueId} = ${ofEvent("issueId")}`;
  const { actorId, repoId, type } = events;
  const ofComments = sql`${timelineEntries}
    where ${ofIssue(timelineEntries.issueId)} and ${timelineEntries.kind} = 'comment'`;
  const concerned = [
    sql`${users} where ${users.id} = ${actorId} and ${users.emailNotifications} = 'andyourown'`,
    sql`${watches} where ${watches.repoId} = ${repoId} and ${isOther(watches.userId)}`,
    sql`${issues} where ${ofIssue(issues.id)} and (
      ${isOther(issues.posterId)}
      or ${type} = 'issue.opened' and instr(${issues.body}, '@')
    )`,
    sql`${issueSubscriptions} where ${ofIssue(issueSubscriptions.issueId)}
      and ${isOther(issueSubscriptions.userId)}`,
    sql`${issueAssignees} where ${ofIssue(issueAssignees.issueId)}
      and ${isOther(issueAssignees.userId)}`,
    sql`${reviews} where ${ofIssue(reviews.issueId)}`,
    // Two ranges of the index, past all comments of the actor.
    sql`${ofComments} and ${timelineEntries.posterId} < ${actorId}`,
    sql`${ofComments} and ${timelineEntries.posterId} > ${actorId}`,
    sql`${timelineEntries} where ${timelineEntries.id} = ${ofEvent("commentId")}
      and instr(${timelineEntries.body}, '@')`,
  ];
  return sql`(
    ${type} not in ('issue.opened', 'issue.closed', 'issue.reopened', 'comment.created')
    or ${anyOf(...concerned.map((rows) => sql`exists (select 1 from ${rows})`))}
  )`;
})();

/**
 * Notifies users of an event of an issue or pull request, and sends mails as far as their settings
 * allow.
 */
export const notify: Consequence = {
  name: "notifications",
  kinds: [
    "issue.opened",
    "issue.closed",
    "issue.reopened",
    "issue.assigned",
    "comment.created",
    "pull.merged",
    "pull.synchronized",
    "pull.dequeued",
    "pull.ready",
    "pull.merge_scheduled",
    "pull.review_requested",
    "review.submitted",
    "review.dismissed",
  ],
  isNeeded: mayNotify,
  async handle(ctx, recorded, budget, state) {
    const found = await findAudience(ctx, recorded);
    if (!found) return undefined;
    budget.consume(2);
    return notifyPart(ctx, recorded, found, typeof state === "number" ? state : 0);
  },
};

/** The audience of an event, and the issue with the comment or review that it is about. */
interface Found {
  readonly repo: Repository;
  readonly issue: Issue;
  readonly audience: Audience;
  readonly entryId: number | null;
}

/** Undefined if the issue, the comment or the review is gone. */
async function findAudience(
  { db }: Ctx,
  { actorId: doerId, event }: RecordedEvent,
): Promise<Found | undefined> {
  if (!("issueId" in event)) return undefined;
  if (event.type === "pull.dequeued" && !NOTIFIED_REASONS.has(event.reason)) return undefined;
  const request = event.type === "pull.review_requested" ? event : undefined;
  const { repoId, issueId } = event;
  const {
    repos: [repo],
    issues: [issue],
    texts,
    dismissed: [dismissed],
  } = await batch(
    db,
    rowsOfEvent(db, {
      repoId,
      issueId,
      commentId: event.type === "comment.created" ? event.commentId : 0,
      reviewId: event.type === "review.submitted" ? event.reviewId : 0,
      dismissedId: event.type === "review.dismissed" ? event.reviewId : 0,
    }),
  );
  const isOfText = event.type === "comment.created" || event.type === "review.submitted";
  if (!issue || !repo || (isOfText && texts.length === 0)) return undefined;
  // It counts again, or is gone.
  if (event.type === "review.dismissed" && !dismissed) return undefined;
  const written = event.type === "issue.opened" ? [issue] : texts;
  const ofFew = [issue.posterId, dismissed?.reviewerId ?? null].filter((id) => id !== null);
  return {
    repo,
    issue,
    audience: {
      repo: { id: repoId, ownerId: repo.ownerId },
      issueId,
      doerId,
      isForAll: !NOT_FOR_ALL.has(event.type),
      others: OF_FEW.has(event.type) ? ofFew : [],
      mentioned: findMentions(written.map(({ body }) => body)),
      assigneeId: event.type === "issue.assigned" ? event.userId : 0,
      requestedUserId: request?.userId ?? 0,
      requestedTeamId: request?.teamId ?? 0,
    },
    entryId: texts[0]?.id ?? null,
  };
}

/** 0 where the event has no such thing. */
interface EventIds {
  readonly repoId: number;
  readonly issueId: number;
  readonly commentId: number;
  readonly reviewId: number;
  readonly dismissedId: number;
}

const rowsOfEvent = prepareAll((db, p: Params<EventIds>) => ({
  repos: db.select().from(repositories).where(eq(repositories.id, p.repoId)),
  issues: db.select().from(issues).where(eq(issues.id, p.issueId)),
  texts: selectEventTexts(db, p.issueId, p),
  dismissed: db
    .select({ reviewerId: reviews.reviewerId })
    .from(reviews)
    .where(and(eq(reviews.id, p.dismissedId), eq(reviews.isDismissed, true))),
}));

/** Events for the poster alone, and the reviewer whose review is dismissed. */
const OF_FEW: ReadonlySet<EventType> = new Set(["pull.merge_scheduled", "review.dismissed"]);
const NOT_FOR_ALL: ReadonlySet<EventType> = new Set([
  ...OF_FEW,
  "issue.assigned",
  "pull.review_requested",
]);

/**
 * Reasons that the merge queue itself found. The others are actions of users, with events of their
 * own.
 */
const NOTIFIED_REASONS: ReadonlySet<DequeueReason> = new Set([
  "checks_failed",
  "checks_timed_out",
  "conflict",
  "unchanged",
  "too_large",
  "refused",
  "queue_removed",
  "base_deleted",
  "branch_refused",
]);

function findMentions(texts: readonly string[]): Audience["mentioned"] {
  const found = texts.map((text) => findReferences(text, { isMarkdown: true, rootUrls: [] }));
  return {
    users: found.flatMap(({ users: named }) => named),
    teams: JSON.stringify(found.flatMap(({ teams }) => teams)),
  };
}

/**
 * Notifies a part of the audience.
 *
 * A notification has the id of its last event, so that the same or an earlier event changes nothing
 * when it is handled again.
 *
 * @param afterId The last user of the part before it.
 * @returns The last user of this part; undefined if no part follows.
 */
async function notifyPart(
  { db, config, mailer, now }: Ctx,
  { id: eventId }: RecordedEvent,
  { repo, issue, audience, entryId }: Found,
  afterId: number,
): Promise<number | undefined> {
  const reach = reachOf(repo, { unit: unitOf(issue), mode: "read" });
  if (!reach) return undefined;
  const part = { afterId, size: NOTIFIED_AT_ONCE };
  const isMailed = isMailOn(config);
  const args = { audience, part, isPull: issue.isPull, eventId, entryId, isMailed, now };
  const {
    counted: [last],
  } = await batch(db, notifyRecipients(db, args, { reach }));
  if (isMailed) mailer.noteQueued();
  return last?.size === NOTIFIED_AT_ONCE ? (last.lastId ?? undefined) : undefined;
}
