import { and, eq, or } from "drizzle-orm";

import { reachOf } from "../../auth/access/people.ts";
import type { Ctx } from "../../context.ts";
import { batchBoth } from "../../db/batch-both.ts";
import { type Params, prepare, prepareAll } from "../../db/prepared.ts";
import { type DequeueReason, issues, repositories, reviews } from "../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../events/consequence.ts";
import { unitOf } from "../issues/find-issue.ts";
import { isMailOn } from "../mail/queue-mail.ts";
import { findReferences } from "../references/find-references.ts";
import { type AudiencePart, participantsOf } from "./participants.ts";
import { type Audience, toValues } from "./recipients.ts";
import { tellConcerned } from "./tell-concerned.ts";
import { selectToldTexts } from "./told-texts.ts";

type EventType = RecordedEvent["event"]["type"];

/** Users of the audience whom one step tells. */
const TOLD_AT_ONCE = 500;

/** Tells users of what happened to an issue or pull request, by notifications and, if they want, by mail. */
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
    const part = { afterId: typeof state === "number" ? state : 0, size: TOLD_AT_ONCE };
    const found = await findAudience(ctx, recorded, part);
    if (!found) return undefined;
    budget.consume(2);
    return tell(ctx, recorded, found, part);
  },
};

/** Whom an event concerns, and the comment or review that it is about. */
interface Found {
  readonly audience: Audience;
  readonly entryId: number | null;
}

/**
 * Reads what an event is about and whom its issue names, in the database of the repository; and in the first one the repository.
 *
 * @returns Undefined if the issue, the comment or the review is gone.
 */
async function findAudience(
  { db, directory }: Ctx,
  { actorId: doerId, event }: RecordedEvent,
  part: AudiencePart,
): Promise<Found | undefined> {
  if (!("issueId" in event)) return undefined;
  if (event.type === "pull.dequeued" && !TOLD_REASONS.has(event.reason)) return undefined;
  const asked = event.type === "pull.review_requested" ? event : undefined;
  const isForAll = !NOT_FOR_ALL.has(event.type);
  const ids: EventIds = {
    issueId: event.issueId,
    commentId: event.type === "comment.created" ? event.commentId : 0,
    reviewId: event.type === "review.submitted" ? event.reviewId : 0,
    dismissedId: event.type === "review.dismissed" ? event.reviewId : 0,
    askedUserId: asked?.userId ?? 0,
    askedTeamId: asked?.teamId ?? 0,
  };
  const { issueId, dismissedId } = ids;
  const assigneeId = event.type === "issue.assigned" ? event.userId : 0;
  const [[[repo]], [[issue], texts, [dismissed], asking, participants]] = await batchBoth(
    [directory, [repositoryOf(directory, { repoId: event.repoId })]],
    [
      db,
      [
        ...rowsOfEvent(db, ids),
        participantsOf(db, { issueId, dismissedId, isForAll, assigneeId, ...part }),
      ],
    ],
  );
  const isOfText = event.type === "comment.created" || event.type === "review.submitted";
  if (!issue || !repo || (isOfText && texts.length === 0)) return undefined;
  // It counts again, or is gone.
  if (event.type === "review.dismissed" && !dismissed) return undefined;
  const told = event.type === "issue.opened" ? [issue] : texts;
  const ofFew = [issue.posterId, dismissed?.reviewerId ?? null].filter((id) => id !== null);
  return {
    audience: {
      repo,
      issue,
      doerId,
      isForAll,
      participants,
      others: OF_FEW.has(event.type) ? ofFew : [],
      mentioned: findMentions(told.map(({ body }) => body)),
      // Nobody is told of a request that was taken back meanwhile.
      asked: asking.length > 0 ? asked : undefined,
    },
    entryId: texts[0]?.id ?? null,
  };
}

/** 0 stands for what an event has not. */
interface EventIds {
  readonly issueId: number;
  readonly commentId: number;
  readonly reviewId: number;
  readonly dismissedId: number;
  /** Who is asked for a review. */
  readonly askedUserId: number;
  readonly askedTeamId: number;
}

const rowsOfEvent = prepareAll((db, p: Params<EventIds>) => [
  db.select().from(issues).where(eq(issues.id, p.issueId)),
  selectToldTexts(db, p.issueId, p),
  db
    .select({ reviewerId: reviews.reviewerId })
    .from(reviews)
    .where(and(eq(reviews.id, p.dismissedId), eq(reviews.isDismissed, true))),
  db
    .select({ id: reviews.id })
    .from(reviews)
    .where(
      and(
        eq(reviews.issueId, p.issueId),
        or(eq(reviews.reviewerId, p.askedUserId), eq(reviews.teamId, p.askedTeamId)),
      ),
    )
    .limit(1),
]);

const repositoryOf = prepare((db, p: Params<{ repoId: number }>) =>
  db.select().from(repositories).where(eq(repositories.id, p.repoId)),
);

/** Events that concern the poster alone, and the reviewer whose review is dismissed. */
const OF_FEW: ReadonlySet<EventType> = new Set(["pull.merge_scheduled", "review.dismissed"]);
const NOT_FOR_ALL: ReadonlySet<EventType> = new Set([
  ...OF_FEW,
  "issue.assigned",
  "pull.review_requested",
]);

/** What the merge queue itself found out. Somebody did the other things, which are told otherwise. */
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
    teams: found.flatMap(({ teams }) => teams),
  };
}

/**
 * Tells a part of the audience.
 *
 * A notification knows the last event that it tells of: one that was told already, or of which a later one was, changes
 * nothing when it is told again.
 *
 * All of it is one batch of the first database.
 *
 * @returns The last user of this part; undefined if no part follows.
 */
async function tell(
  { directory, config, mailer, now }: Ctx,
  { id: eventId }: RecordedEvent,
  { audience, entryId }: Found,
  audiencePart: AudiencePart,
): Promise<number | undefined> {
  const { repo, issue } = audience;
  const reach = reachOf(repo, { unit: unitOf(issue), mode: "read" });
  if (!reach) return undefined;
  const { id: issueId, isPull } = issue;
  const isMailed = isMailOn(config);
  const told = { part: audiencePart, issueId, isPull, eventId, entryId, isMailed, now };
  const [[last]] = await directory.batch(
    tellConcerned(directory, { audience: toValues(audience), ...told }, { reach }),
  );
  if (isMailed) mailer.noteQueued();
  return last?.size === audiencePart.size ? (last.lastId ?? undefined) : undefined;
}
