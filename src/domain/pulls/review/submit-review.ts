import { and, eq, sql, type SQL } from "drizzle-orm";

import { teamIdsOf } from "../../../auth/access/teams.ts";
import { asBlocked, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  codeComments,
  issues,
  pulls,
  reviews,
  type ReviewState,
  timelineEntries,
} from "../../../db/schema/index.ts";
import { recordEach } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import {
  isKeptOut,
  isParticipationAllowed,
  participationArgument,
  requireParticipation,
} from "../../comments/participation.ts";
import { branchRef } from "../../branches/find-branch.ts";
import { findRef } from "../../git/open-snapshot.ts";
import { insertEntries } from "../../issues/insert-entry.ts";
import { requireNotArchived } from "../../issues/require-issue-access.ts";
import { isOfficialCaller } from "../../protections/official.ts";
import { type NewCodeComment, placeComments, type PlacedComment } from "./place-comments.ts";
import { loadRules } from "../../protections/select-rules.ts";
import { dismissesStale } from "../../reviews/follow-head.ts";
import { dropRequests } from "../../reviews/request-reviews.ts";
import { offersSameChange } from "../../reviews/same-changes.ts";

/** The state that a review gets: not that of a request. */
export type GivenState = Exclude<ReviewState, "request_review">;

/** The input for a review. */
export interface NewReview {
  /** What the caller calls the state, for messages. */
  readonly event: string;
  readonly state: GivenState;
  readonly body: string;
  /** The commit that was reviewed; undefined for the head. */
  readonly commitOid?: string | undefined;
  readonly comments: readonly NewCodeComment[];
}

const LOCKED = "You cannot comment on a locked issue.";
const CLOSED = "can't submit review for a closed or merged PR";

/**
 * Reviews a pull request. The caller's pending review of it, if there is one, takes the comments and is submitted with
 * them; with the state `pending` it stays as it is otherwise.
 *
 * Cost: one batch, which judges the lock, the state and blocks, and what `placeComments` costs.
 *
 * @throws Failure `invalid` to approve or reject one's own pull request or a closed one; `forbidden` if it is locked and
 * the caller may only read it, with the unit off, and where a block keeps the caller out; `locked` in an archived
 * repository; else as `placeComments`.
 */
export async function createReview(
  ctx: Ctx,
  pull: PullContext,
  wanted: NewReview,
): Promise<ReviewContext> {
  requireReview(ctx, pull, wanted.state);
  requireText(wanted, wanted.comments.length);
  const commitOid = wanted.commitOid || pull.pull.headOid;
  const [comments, vote, isSame] = await Promise.all([
    placeComments(ctx, pull, wanted.comments),
    findVote(ctx, pull, wanted.state),
    commitOid === pull.pull.headOid || isSameAsHead(ctx, pull, commitOid),
  ]);
  const review = { ...wanted, ...vote, comments, commitOid, isStale: !isSame };
  const stored = await store(ctx, pull, review);
  // The condition of the statements is that there is a pending review, which the first one inserts.
  if (!stored) throw new Error("a review without its row");
  return stored;
}

/**
 * Submits the caller's pending review.
 *
 * @throws Failure as `createReview`; `invalid` if it was submitted meanwhile.
 */
export async function submitReview(
  ctx: Ctx,
  pull: PullContext,
  { row }: ReviewContext,
  wanted: Pick<NewReview, "event" | "state" | "body">,
): Promise<ReviewContext> {
  requireReview(ctx, pull, wanted.state);
  requireText(wanted, row.commentCount);
  const vote = await findVote(ctx, pull, wanted.state);
  const { commitOid, isStale, id } = row;
  const review = { ...wanted, ...vote, commitOid, isStale, comments: [] };
  const stored = await store(ctx, pull, review, id);
  if (!stored) throw invalid("only a pending review can be submitted");
  return stored;
}

/** What a review counts. Cost: a query where the rules are not loaded. */
async function findVote(ctx: Ctx, pull: PullContext, state: GivenState): Promise<Vote> {
  if (!isVote(state)) return { isOfficial: false, isDismissedStale: false };
  const { repo } = pull;
  const rules = await loadRules(ctx, repo);
  const isOfficial = await isOfficialCaller(ctx, { ...repo, rules }, pull.pull.baseBranch);
  return { isOfficial, isDismissedStale: state === "approved" && dismissesStale(rules, pull) };
}

/**
 * Whether a commit that was reviewed offers the same change as the head. Cost: opens the repository of the base.
 *
 * SECURITY: also for those who may not read the code. It tells them of commits that they know.
 */
async function isSameAsHead(
  ctx: Ctx,
  { repo, pull }: PullContext,
  commitOid: Oid,
): Promise<boolean> {
  const stored = ctx.git.repository(repo.row);
  const state = await stored.snapshot("none");
  const repository = await stored.openByBlock(state, ctx.git.budget);
  const baseOid = findRef({ state }, branchRef(pull.baseBranch))?.oid ?? "";
  const { headOid } = pull;
  return offersSameChange(ctx, repository, { baseOid, formerOid: commitOid, headOid });
}

const isVote = (state: GivenState): boolean => state === "approved" || state === "request_changes";

function requireReview(ctx: Ctx, pull: PullContext, state: GivenState): void {
  requireNotArchived(pull.repo);
  requireParticipation(pull, LOCKED);
  if (!isVote(state)) return;
  const { posterId, isClosed } = pull.row;
  if (posterId !== null && posterId === ctx.actor.user?.id) {
    throw invalid(`${state === "approved" ? "approve" : "reject"} your own pull is not allowed`);
  }
  if (isClosed) throw invalid(CLOSED);
}

/** Refuses a review that says nothing. Spaces say nothing. */
function requireText({ event, state, body }: Omit<NewReview, "comments">, comments: number): void {
  if (state === "approved" || body.trim() !== "") return;
  if (state === "request_changes") throw invalid(`review event ${event} requires a body`);
  if (comments > 0) return;
  const what = state === "comment" ? "a body or a comment" : "a body";
  throw invalid(`review event ${event} requires ${what}`);
}

interface Vote {
  /** Whether it counts. */
  readonly isOfficial: boolean;
  /** Whether it is dismissed if it is stale, as a rule of the base wants. */
  readonly isDismissedStale: boolean;
}

interface StoredReview extends Omit<NewReview, "comments">, Vote {
  readonly comments: readonly PlacedComment[];
  readonly commitOid: Oid;
  /** Whether the head that the caller saw offers another change than the commit. */
  readonly isStale: boolean;
}

/**
 * Stores a review in one batch: as the pending one first, which everything else refers to, and which gets its state in
 * the end.
 *
 * @param id The pending review; without one, it is the caller's, and inserted if there is none.
 * @returns Undefined if the review with the id is not pending.
 */
async function store(
  ctx: Ctx,
  pull: PullContext,
  review: StoredReview,
  id?: number,
): Promise<ReviewContext | undefined> {
  const { db, now, actor } = ctx;
  const { repo, row } = pull;
  const participation = participationArgument(ctx, pull);
  const { state, body, isOfficial, comments, commitOid } = review;
  // SECURITY: a head that moved since is another one, whatever the caller saw.
  const isStale = sql<boolean>`(
    select iif(
      ${pulls.headOid} = ${pull.pull.headOid}, ${review.isStale}, ${pulls.headOid} <> ${commitOid}
    )
    from ${pulls}
    where ${pulls.issueId} = ${row.id}
  )`;
  const isDismissed = review.isDismissedStale ? isStale : false;
  const isSubmitted = state !== "pending";
  const reviewerId = actor.user?.id ?? null;
  const subject = { repoId: repo.row.id, issueId: row.id };
  const isThis = and(
    eq(reviews.issueId, row.id),
    eq(reviews.reviewerId, sql`${reviewerId}`),
    eq(reviews.state, "pending"),
    id === undefined ? undefined : eq(reviews.id, id),
  ) as SQL;
  const isStillOpen = isVote(state) ? eq(issues.isClosed, false) : undefined;
  const isAllowedNow = sql`exists (
    select 1 from ${issues} where ${and(isParticipationAllowed(participation), isStillOpen)}
  )`;
  const times = { createdAt: now, updatedAt: now };
  const begin = insertSelect(
    db,
    reviews,
    { ...subject, ...times, state: "pending", reviewerId, commitOid },
    sql`
      where ${id === undefined} and not exists (
        select 1 from ${reviews} where ${isThis}
      )`,
  );
  const ofMine = and(
    eq(reviews.issueId, row.id),
    eq(reviews.reviewerId, sql`${reviewerId}`),
    sql`${reviews.state} in ('approved', 'request_changes')`,
    sql`exists (
      select 1 from ${reviews} mine
      where mine.issue_id = ${row.id} and mine.reviewer_id = ${reviewerId}
        and mine.state = 'pending' ${id === undefined ? sql`` : sql`and mine.id = ${id}`}
    )`,
  );
  try {
    const results = await db.batch([
      begin,
      // It stands in the timeline where it is submitted.
      db.delete(timelineEntries).where(
        and(
          eq(timelineEntries.kind, "review"),
          sql`${timelineEntries.reviewId} = (
              select ${reviews.id} from ${reviews} where ${isThis}
            )`,
        ),
      ),
      insertEntries(
        ctx,
        {
          kind: "review",
          ...subject,
          repoId: onlyWhile(isAllowedNow, subject.repoId),
          body: unlessBlocked(isKeptOut(participation), body),
          reviewId: sql`${reviews.id}`,
        },
        sql`from ${reviews} where ${isThis}`,
      ).returning({ id: timelineEntries.id }),
      ...commentStatements(ctx, pull, comments, isThis),
      ...(isSubmitted ? submissionStatements(ctx, pull, state, isThis) : []),
      ...(isVote(state)
        ? [db.update(reviews).set({ isOfficial: false, isDismissed: true }).where(ofMine)]
        : []),
      db
        .update(reviews)
        .set({ state, body, isOfficial, commitOid, isStale, isDismissed, ...times })
        .where(isThis)
        .returning(),
    ]);
    const [entry] = results[2];
    const [stored] = results.at(-1) as (typeof reviews.$inferSelect)[];
    return (
      stored && {
        pull,
        row: stored,
        reviewer: actor.user,
        team: undefined,
        entryId: entry?.id,
      }
    );
  } catch (error) {
    // Locked or closed since it was read.
    if (isViolation(error, "NOT NULL", "timeline_entries.repo_id")) {
      throw isVote(state) ? invalid(CLOSED) : forbidden(LOCKED);
    }
    throw asBlocked(error, "timeline_entries.body");
  }
}

/** What submitting a review changes beside it: its requests are answered, and others hear of it. */
function submissionStatements(
  ctx: Ctx,
  { repo, row }: PullContext,
  state: Exclude<GivenState, "pending">,
  isThis: SQL,
) {
  const reviewerId = sql`${ctx.actor.user?.id ?? null}`;
  const ofTeam = isVote(state)
    ? sql`or ${reviews.teamId} in ${teamIdsOf(sql`${repo.row.ownerId}`, reviewerId)}`
    : sql``;
  const isAnswered = and(
    eq(reviews.issueId, row.id),
    eq(reviews.state, "request_review"),
    sql`(${reviews.reviewerId} = ${reviewerId} ${ofTeam})`,
  );
  const subject = { repoId: repo.row.id, ownerId: repo.row.ownerId, issueId: row.id };
  return [
    recordEach(
      ctx,
      {
        type: "review.submitted",
        ...subject,
        number: row.number,
        reviewId: sql`${reviews.id}`,
        state,
      },
      sql`from ${reviews} where ${isThis}`,
    ),
    ctx.db.update(issues).set({ updatedAt: ctx.now }).where(eq(issues.id, row.id)),
    ...dropRequests(ctx, isAnswered),
  ] as const;
}

/** Characters of JSON in one statement: D1 takes 2 MB in a value. */
const JSON_CHARS_MAX = 300_000;

/** The statements that add comments on code to a review, in order. */
function commentStatements(
  ctx: Ctx,
  { repo, row }: PullContext,
  comments: readonly PlacedComment[],
  isThis: SQL,
) {
  const field = (name: keyof PlacedComment): SQL => sql`item.value ->> ${name}`;
  return inParts(comments).flatMap((part) => {
    const from = sql`
      from json_each(${JSON.stringify(part)}) item
      join ${reviews} on ${isThis}
      order by item.key`;
    // One statement inserts its rows in order, and gives them consecutive ids.
    const firstId = sql`(
      select max(${timelineEntries.id}) - ${part.length - 1}
      from ${timelineEntries}
      where ${timelineEntries.issueId} = ${row.id}
    )`;
    return [
      insertEntries(
        ctx,
        {
          kind: "code" as const,
          repoId: repo.row.id,
          issueId: row.id,
          body: field("body"),
          reviewId: sql`${reviews.id}`,
        },
        from,
      ),
      insertSelect(
        ctx.db,
        codeComments,
        {
          entryId: sql`${firstId} + item.key`,
          reviewId: sql`${reviews.id}`,
          issueId: row.id,
          rootId: field("rootId"),
          path: field("path"),
          line: field("line"),
          startLine: field("startLine"),
          isOldSide: field("isOldSide"),
          isOutdated: field("isOutdated"),
          commitOid: field("commitOid"),
          originalCommitOid: field("originalCommitOid"),
          originalLine: field("originalLine"),
          diffHunk: field("diffHunk"),
        },
        from,
      ),
    ];
  });
}

function inParts(comments: readonly PlacedComment[]): PlacedComment[][] {
  const parts: PlacedComment[][] = [];
  let chars = JSON_CHARS_MAX;
  for (const comment of comments) {
    const length = JSON.stringify(comment).length;
    if (chars + length > JSON_CHARS_MAX) {
      parts.push([]);
      chars = 0;
    }
    parts.at(-1)?.push(comment);
    chars += length;
  }
  return parts;
}
