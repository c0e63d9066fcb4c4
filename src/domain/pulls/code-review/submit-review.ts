import { and, eq, sql, type SQL } from "drizzle-orm";

import { teamIdsOf } from "../../../auth/access/teams.ts";
import { asBlocked, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { allOf, isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  codeComments,
  issues,
  pulls,
  reviews,
  type ReviewState,
  timelineEntries,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, recordBy } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { conflict, forbidden, invalid } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import {
  isKeptOut,
  isParticipationAllowed,
  participationArgument,
  type ParticipationArgument,
  requireParticipation,
} from "../../issues/comments/participation.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { entryArgument, type EntryArgument } from "../../issues/issue/insert-entry.ts";
import { claimUploads } from "../../issues/uploads/claim-uploads.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { isOfficialCaller } from "../../code/protections/official.ts";
import { type NewCodeComment, placeComments, type PlacedComment } from "./place-comments.ts";
import { loadRules } from "../../code/protections/select-rules.ts";
import { dismissesStale } from "../reviews/follow-head.ts";
import { findPendingReview } from "../reviews/find-review.ts";
import { deleteRequestStatements } from "../reviews/request-reviews.ts";
import { offersSameChange } from "../reviews/same-changes.ts";

/** The state that a review gets: not that of a request. */
export type GivenState = Exclude<ReviewState, "request_review">;

/** The input for a review. */
export interface NewReview {
  /** The caller's name of the state, for messages. */
  readonly event: string;
  readonly state: GivenState;
  readonly body: string;
  /** The commit that was reviewed; undefined for the head. */
  readonly commitOid?: string | undefined;
  readonly comments: readonly NewCodeComment[];
}

/** What is said with a pending review as a whole. */
type Submission = Pick<NewReview, "event" | "state" | "body">;

/** A review that a page sends, maybe twice. */
export interface SentReview extends NewReview {
  /**
   * A time: the same review, or one with the same first comment, that the caller has sent since
   * then is this one sent again, whose answer was lost.
   */
  readonly since: number;
  /** Whether it is refused where it would submit the caller's pending review along with it. */
  readonly isAlone: boolean;
}

const LOCKED = "You cannot comment on a locked issue.";
const CLOSED = "can't submit review for a closed or merged PR";

/**
 * Reviews a pull request. The caller's pending review of it, if there is one, takes the comments
 * and is submitted with them; with the state `pending` it stays as it is otherwise, also its text
 * where the input has none.
 *
 * Cost: one batch, which checks the lock, the state and blocks, and `placeComments`.
 *
 * @throws Failure `invalid` to approve or reject one's own pull request or a closed one;
 * `forbidden` if it is locked and the caller may only read it, with the unit off, and where a block
 * keeps the caller out; `locked` in an archived repository; else as `placeComments`.
 */
export async function createReview(
  ctx: Ctx,
  pull: PullContext,
  input: NewReview,
): Promise<ReviewContext> {
  const stored = await writeReview(ctx, pull, input);
  // The condition of the statements is that there is a pending review, which the first one inserts.
  if (!stored) throw new Error("a review without its row");
  return stored;
}

/**
 * Reviews a pull request as `createReview` does, once: nothing is written where the same was sent
 * before.
 *
 * @returns Undefined where it was.
 * @throws Failure as `createReview`; `invalid` for a comment on what is not changed; `conflict` if it must be alone and the caller has begun a
 *   review.
 */
export async function createReviewOnce(
  ctx: Ctx,
  pull: PullContext,
  input: SentReview,
): Promise<ReviewContext | undefined> {
  return writeReview(ctx, pull, input, input.since);
}

async function writeReview(
  ctx: Ctx,
  pull: PullContext,
  input: NewReview & Partial<SentReview>,
  since?: number,
): Promise<ReviewContext | undefined> {
  requireReview(ctx, pull, input.state);
  requireText(input, input.comments.length);
  const commitOid = input.commitOid || pull.pull.headOid;
  const [comments, vote, isSame, pending] = await Promise.all([
    placeComments(ctx, pull, input.comments, since !== undefined),
    findVote(ctx, pull, input.state),
    commitOid === pull.pull.headOid || isSameAsHead(ctx, pull, commitOid),
    input.isAlone ? findPendingReview(ctx, pull) : undefined,
  ]);
  if (pending) throw conflict("you have begun a review: add the comment to it, or finish it first");
  const { event, state, body } = input;
  const placed = { event, state, body, ...vote, comments, commitOid, isStale: !isSame };
  return store(ctx, pull, placed, { since });
}

/**
 * Submits the caller's pending review.
 *
 * @throws Failure as `createReview`; `invalid` if it was submitted meanwhile.
 */
export async function submitReview(
  ctx: Ctx,
  pull: PullContext,
  pending: ReviewContext,
  input: Submission,
): Promise<ReviewContext> {
  const stored = await submitReviewOnce(ctx, pull, pending, input);
  if (!stored) throw reviewNotPending();
  return stored;
}

/**
 * Submits the caller's pending review as `submitReview` does.
 *
 * @returns Undefined if it was submitted or discarded meanwhile.
 * @throws Failure as `createReview`.
 */
export async function submitReviewOnce(
  ctx: Ctx,
  pull: PullContext,
  { row }: ReviewContext,
  input: Submission,
): Promise<ReviewContext | undefined> {
  requireReview(ctx, pull, input.state);
  requireText(input, row.commentCount);
  const vote = await findVote(ctx, pull, input.state);
  const { commitOid, isStale, id } = row;
  const review = { ...input, ...vote, commitOid, isStale, comments: [] };
  return store(ctx, pull, review, { id });
}

export const reviewNotPending = () => invalid("only a pending review can be submitted");

/** Whether a review counts as a vote. Cost: a query unless the rules are loaded. */
async function findVote(ctx: Ctx, pull: PullContext, state: GivenState): Promise<Vote> {
  if (!isVote(state)) return { isOfficial: false, isDismissedStale: false };
  const { repo } = pull;
  const rules = await loadRules(ctx, repo);
  const isOfficial = await isOfficialCaller(ctx, { ...repo, rules }, pull.pull.baseBranch);
  return { isOfficial, isDismissedStale: state === "approved" && dismissesStale(rules, pull) };
}

/**
 * Whether a commit that was reviewed offers the same change as the head. Cost: opens the repository
 * of the base.
 *
 * SECURITY: callers who may not read the code learn only about commits whose ids they know.
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

/** Refuses a review without text. Spaces are no text. */
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
 * Stores a review in one batch: as the pending one first, which everything else refers to, and
 * which gets its state in the end.
 *
 * @param id The pending review; without one, it is the caller's, and inserted if there is none.
 * @param since As in `SentReview`.
 * @returns Undefined if the review with the id is not pending, and if it was sent before.
 */
async function store(
  ctx: Ctx,
  pull: PullContext,
  review: StoredReview,
  { id, since }: { id?: number; since?: number | undefined },
): Promise<ReviewContext | undefined> {
  const { db, actor } = ctx;
  const { repo, row } = pull;
  const { state, body, isOfficial, comments, commitOid } = review;
  const { id: repoId, ownerId } = repo.row;
  const one: OneReview = {
    repoId,
    issueId: row.id,
    reviewerId: actor.user?.id ?? null,
    ...(id !== undefined && { id }),
  };
  const [first] = comments;
  const repeat: Repeat | undefined =
    since === undefined
      ? undefined
      : { since, state, body, ...(first && { first: placeOf(first) }) };
  const text = state === "pending" && body === "" ? {} : { body };
  const participation = participationArgument(ctx, pull);
  const beginning = beginReview(db, {
    one,
    participation,
    isVote: isVote(state),
    ...text,
    commitOid,
    entry: entryArgument(ctx),
    ...(repeat && { repeat }),
  });
  const submission =
    state === "pending"
      ? {}
      : submitOne(db, {
          one,
          ownerId,
          isVote: isVote(state),
          now: ctx.now,
          event: eventArgument(ctx, {
            type: "review.submitted",
            repoId,
            ownerId,
            issueId: row.id,
            number: row.number,
            reviewId: COMPUTED,
            state,
          }),
        });
  const stored = endReview(db, {
    one,
    headOid: pull.pull.headOid,
    isStale: review.isStale ? 1 : 0,
    isDismissedStale: review.isDismissedStale,
    row: boundRow(reviews, { state, isOfficial, commitOid, ...text }),
    now: ctx.now,
  });
  try {
    const results = await batch(db, {
      ...beginning,
      comments: commentStatements(ctx, comments, one, repeat),
      ...submission,
      former: isVote(state) ? [dismissFormer(db, { one })] : [],
      stored,
      claims: [
        ...(state === "pending" ? [] : claimUploads(ctx, reviewEntry(one), body)),
        ...comments.flatMap((each) => claimUploads(ctx, commentEntry(one, each), each.body)),
      ],
    });
    const [ended] = results.stored;
    return (
      ended && {
        pull,
        row: ended,
        reviewer: actor.user,
        team: undefined,
        entryId: results.entry[0]?.id,
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

/** The entry of a review that was submitted just now, or was sent twice. */
const reviewEntry = ({ repoId, issueId, reviewerId }: OneReview) => ({
  repoId,
  issueId,
  entryId: sql<number>`(
    select max(${timelineEntries.id})
    from ${timelineEntries}
    where ${timelineEntries.issueId} = ${issueId}
      and ${timelineEntries.kind} = 'review'
      and ${timelineEntries.posterId} = ${reviewerId}
  )`,
});

/** The entry of a comment that was added just now, or was sent twice. */
const commentEntry = ({ repoId, issueId, reviewerId }: OneReview, { body }: PlacedComment) => ({
  repoId,
  issueId,
  entryId: sql<number>`(
    select max(${timelineEntries.id})
    from ${timelineEntries}
    where ${timelineEntries.issueId} = ${issueId}
      and ${timelineEntries.kind} = 'code'
      and ${timelineEntries.posterId} = ${reviewerId}
      and ${timelineEntries.body} = ${body}
  )`,
});

/** The pending review that is stored, as an argument of a query. */
interface OneReview {
  readonly repoId: number;
  readonly issueId: number;
  readonly reviewerId: number | null;
  /** Without it, the caller's. */
  readonly id?: number;
}

const isOne = ({ issueId, reviewerId, id }: Params<OneReview>): SQL =>
  allOf(
    eq(reviews.issueId, issueId),
    eq(reviews.reviewerId, reviewerId),
    eq(reviews.state, "pending"),
    id && eq(reviews.id, id),
  );

/** A comment by its text and its place. */
interface CommentPlace {
  /** The conversation that it answers in; null for a new one. */
  readonly rootId: number | null;
  readonly path: string;
  readonly line: number;
  readonly startLine: number;
  readonly side: 0 | 1;
  readonly text: string;
}

const placeOf = (comment: PlacedComment): CommentPlace => {
  const { rootId, path, line, startLine, isOldSide, body } = comment;
  return { rootId, path, line, startLine, side: isOldSide ? 1 : 0, text: body };
};

/** What is sent again if the caller has sent it since a time. */
interface Repeat {
  readonly since: number;
  readonly state: string;
  readonly body: string;
  /** The first comment; a review without comments is the same by its state and text. */
  readonly first?: CommentPlace;
}

/** The condition that a review was not sent before; nothing where that does not matter. */
function isNotSent(
  { issueId, reviewerId }: Params<OneReview>,
  repeat: Params<Repeat> | undefined,
): SQL | undefined {
  if (!repeat) return undefined;
  const { since, state, body, first } = repeat;
  if (first) {
    return sql`not exists (
      select 1
      from ${codeComments} sent join ${timelineEntries} said on said.id = sent.entry_id
      where sent.issue_id = ${issueId} and sent.root_id is ${first.rootId}
        and sent.path = ${first.path} and sent.line = ${first.line}
        and sent.start_line = ${first.startLine} and sent.is_old_side = ${first.side}
        and said.poster_id = ${reviewerId} and said.created_at >= ${since}
        and said.body = ${first.text}
    )`;
  }
  return sql`not exists (
    select 1 from ${reviews} sent
    where sent.issue_id = ${issueId} and sent.reviewer_id = ${reviewerId}
      and sent.state = ${state} and sent.body = ${body} and sent.created_at >= ${since}
  )`;
}

interface BegunReview {
  readonly one: OneReview;
  readonly participation: ParticipationArgument;
  readonly isVote: boolean;
  /** Without it, the text of the pending review. */
  readonly body?: string;
  readonly commitOid: string;
  readonly entry: EntryArgument;
  readonly repeat?: Repeat;
}

const beginReview = prepareAll((db, p: Params<BegunReview>) => {
  const { one, participation, entry } = p;
  const { repoId, issueId, reviewerId } = one;
  const isThis = isOne(one);
  const isStillOpen = p.isVote ? eq(issues.isClosed, false) : undefined;
  const isAllowedNow = sql`exists (
    select 1 from ${issues} where ${and(isParticipationAllowed(participation), isStillOpen)}
  )`;
  const { createdAt, updatedAt } = entry;
  return {
    pending: insertSelect(
      db,
      reviews,
      {
        repoId,
        issueId,
        createdAt,
        updatedAt,
        state: "pending",
        reviewerId,
        commitOid: p.commitOid,
      },
      sql`
        where ${allOf(
          sql`${one.id === undefined}`,
          sql`not exists (select 1 from ${reviews} where ${isThis})`,
          isNotSent(one, p.repeat),
        )}`,
    ),
    // It stands in the timeline where it is submitted.
    removedEntry: db.delete(timelineEntries).where(
      and(
        eq(timelineEntries.kind, "review"),
        sql`${timelineEntries.reviewId} = (
          select ${reviews.id} from ${reviews} where ${isThis}
        )`,
      ),
    ),
    entry: insertSelect(
      db,
      timelineEntries,
      {
        kind: "review",
        issueId,
        ...entry,
        repoId: onlyWhile(isAllowedNow, repoId),
        body: unlessBlocked(isKeptOut(participation), p.body ?? sql`${reviews.body}`),
        reviewId: sql`${reviews.id}`,
      },
      sql`from ${reviews} where ${isThis}`,
    ).returning({ id: timelineEntries.id }),
  };
});

const dismissFormer = prepare((db, { one }: Params<{ one: OneReview }>) => {
  const { issueId, reviewerId, id } = one;
  const ofMine = and(
    eq(reviews.issueId, issueId),
    eq(reviews.reviewerId, reviewerId),
    sql`${reviews.state} in ('approved', 'request_changes')`,
    sql`exists (
      select 1 from ${reviews} mine
      where mine.issue_id = ${issueId} and mine.reviewer_id = ${reviewerId}
        and mine.state = 'pending' ${id === undefined ? sql`` : sql`and mine.id = ${id}`}
    )`,
  );
  return db.update(reviews).set({ isOfficial: false, isDismissed: true }).where(ofMine);
});

interface EndedReview {
  readonly one: OneReview;
  /** The head that the caller saw. */
  readonly headOid: string;
  /** Whether it offers another change than the commit. */
  readonly isStale: 0 | 1;
  readonly isDismissedStale: boolean;
  readonly row: BoundRow<
    Pick<typeof reviews.$inferInsert, "state" | "body" | "isOfficial" | "commitOid">
  >;
  readonly now: number;
}

const endReview = prepare((db, p: Params<EndedReview>) => {
  const { one, row, now } = p;
  // SECURITY: a head that moved since is another one, whatever the caller saw.
  const isStale = sql<boolean>`(
    select iif(
      ${pulls.headOid} = ${p.headOid}, ${p.isStale}, ${pulls.headOid} <> ${row.commitOid}
    )
    from ${pulls}
    where ${pulls.issueId} = ${one.issueId}
  )`;
  const isDismissed = p.isDismissedStale ? isStale : false;
  return db
    .update(reviews)
    .set({ ...row, isStale, isDismissed, createdAt: now, updatedAt: now })
    .where(isOne(one))
    .returning();
});

interface SubmittedReview {
  readonly one: OneReview;
  readonly ownerId: number;
  readonly isVote: boolean;
  readonly event: EventArgument;
  readonly now: number;
}

/** The statements that record the event of a review and remove the requests for it. */
const submitOne = prepareAll((db, p: Params<SubmittedReview>) => {
  const { one, ownerId } = p;
  const { issueId, reviewerId } = one;
  const ofTeam = p.isVote ? sql`or ${reviews.teamId} in ${teamIdsOf(ownerId, reviewerId)}` : sql``;
  const isAnswered = and(
    eq(reviews.issueId, issueId),
    eq(reviews.state, "request_review"),
    sql`(${reviews.reviewerId} = ${reviewerId} ${ofTeam})`,
  );
  return {
    recorded: recordBy(
      db,
      p.event,
      { reviewId: sql`${reviews.id}` },
      sql`from ${reviews} where ${isOne(one)}`,
    ),
    touched: db.update(issues).set({ updatedAt: p.now }).where(eq(issues.id, issueId)),
    ...deleteRequestStatements(db, isAnswered),
  };
});

/** Characters of JSON in one statement: D1 takes 2 MB in a value. */
const JSON_CHARS_MAX = 300_000;

/** The statements that add comments on code to a review, in order. */
const commentStatements = (
  ctx: Ctx,
  comments: readonly PlacedComment[],
  one: OneReview,
  repeat: Repeat | undefined,
) =>
  inParts(comments).flatMap((part) =>
    insertComments(ctx.db, {
      one,
      part: JSON.stringify(part),
      lastAt: part.length - 1,
      entry: entryArgument(ctx),
      ...(repeat && { repeat }),
    }),
  );

interface CommentsPart {
  readonly one: OneReview;
  /** JSON. */
  readonly part: string;
  readonly lastAt: number;
  readonly entry: EntryArgument;
  readonly repeat?: Repeat;
}

const insertComments = prepareAll((db, p: Params<CommentsPart>) => {
  const { one, part, lastAt, entry } = p;
  const { repoId, issueId } = one;
  const field = (name: keyof PlacedComment): SQL => sql`item.value ->> ${name}`;
  const from = sql`
    from json_each(${part}) item
    join ${reviews} on ${isOne(one)}
    where ${allOf(isNotSent(one, p.repeat))}
    order by item.key`;
  // One statement inserts its rows in order, and gives them consecutive ids.
  const firstId = sql`(
    select max(${timelineEntries.id}) - ${lastAt}
    from ${timelineEntries}
    where ${timelineEntries.issueId} = ${issueId}
  )`;
  return [
    insertSelect(
      db,
      timelineEntries,
      {
        kind: "code",
        repoId,
        issueId,
        ...entry,
        body: field("body"),
        reviewId: sql`${reviews.id}`,
      },
      from,
    ),
    insertSelect(
      db,
      codeComments,
      {
        entryId: sql`${firstId} + item.key`,
        reviewId: sql`${reviews.id}`,
        issueId,
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
  ] as const;
});

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
