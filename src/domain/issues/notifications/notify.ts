import { and, eq } from "drizzle-orm";

import { reachOf } from "../../../auth/access/people.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  type DequeueReason,
  type Issue,
  issues,
  repositories,
  type Repository,
  reviews,
} from "../../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../../events/consequence.ts";
import { unitOf } from "../issue/find-issue.ts";
import { isMailOn } from "../../people/mail/queue-mail.ts";
import { findReferences } from "../references/find-references.ts";
import type { Audience } from "./recipients.ts";
import { tellConcerned } from "./tell-concerned.ts";
import { selectToldTexts } from "./told-texts.ts";

type EventType = RecordedEvent["event"]["type"];

/** Users of the audience whom one step tells. */
const TOLD_AT_ONCE = 500;

/**
 * Tells users of what happened to an issue or pull request, by notifications and, if they want, by
 * mail.
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
  async handle(ctx, recorded, budget, state) {
    const found = await findAudience(ctx, recorded);
    if (!found) return undefined;
    budget.consume(2);
    return tell(ctx, recorded, found, typeof state === "number" ? state : 0);
  },
};

/** Whom an event concerns, and the issue with the comment or review that it is about. */
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
  if (event.type === "pull.dequeued" && !TOLD_REASONS.has(event.reason)) return undefined;
  const asked = event.type === "pull.review_requested" ? event : undefined;
  const { repoId, issueId } = event;
  const [[repo], [issue], texts, [dismissed]] = await db.batch(
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
  const told = event.type === "issue.opened" ? [issue] : texts;
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
      mentioned: findMentions(told.map(({ body }) => body)),
      assigneeId: event.type === "issue.assigned" ? event.userId : 0,
      askedUserId: asked?.userId ?? 0,
      askedTeamId: asked?.teamId ?? 0,
    },
    entryId: texts[0]?.id ?? null,
  };
}

/** 0 stands for what an event has not. */
interface EventIds {
  readonly repoId: number;
  readonly issueId: number;
  readonly commentId: number;
  readonly reviewId: number;
  readonly dismissedId: number;
}

const rowsOfEvent = prepareAll((db, p: Params<EventIds>) => [
  db.select().from(repositories).where(eq(repositories.id, p.repoId)),
  db.select().from(issues).where(eq(issues.id, p.issueId)),
  selectToldTexts(db, p.issueId, p),
  db
    .select({ reviewerId: reviews.reviewerId })
    .from(reviews)
    .where(and(eq(reviews.id, p.dismissedId), eq(reviews.isDismissed, true))),
]);

/** Events that concern the poster alone, and the reviewer whose review is dismissed. */
const OF_FEW: ReadonlySet<EventType> = new Set(["pull.merge_scheduled", "review.dismissed"]);
const NOT_FOR_ALL: ReadonlySet<EventType> = new Set([
  ...OF_FEW,
  "issue.assigned",
  "pull.review_requested",
]);

/**
 * What the merge queue itself found out. Somebody did the other things, which are told otherwise.
 */
const TOLD_REASONS: ReadonlySet<DequeueReason> = new Set([
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
 * Tells a part of the audience.
 *
 * A notification knows the last event that it tells of: one that was told already, or of which a
 * later one was, changes nothing when it is told again.
 *
 * @param afterId The last user of the part before it.
 * @returns The last user of this part; undefined if no part follows.
 */
async function tell(
  { db, config, mailer, now }: Ctx,
  { id: eventId }: RecordedEvent,
  { repo, issue, audience, entryId }: Found,
  afterId: number,
): Promise<number | undefined> {
  const reach = reachOf(repo, { unit: unitOf(issue), mode: "read" });
  if (!reach) return undefined;
  const part = { afterId, size: TOLD_AT_ONCE };
  const isMailed = isMailOn(config);
  const told = { audience, part, isPull: issue.isPull, eventId, entryId, isMailed, now };
  const [[last]] = await db.batch(tellConcerned(db, told, { reach }));
  if (isMailed) mailer.noteQueued();
  return last?.size === TOLD_AT_ONCE ? (last.lastId ?? undefined) : undefined;
}
