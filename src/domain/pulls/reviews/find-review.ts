import { and, asc, desc, eq, gte, sql, type SQL } from "drizzle-orm";

import { askedTeam } from "../../../auth/access/reviewing-teams.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, columnsOf, type Database, qualified } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { issues, type Review, reviews, timelineEntries, users } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueNames } from "../../../shapes/issues/issue.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered } from "../../issues/issue/find-issue.ts";
import type { Listed, Slice } from "../../slice.ts";
import { isReviewVisible } from "./review-states.ts";

/**
 * Selects reviews and requests with everything that their JSON shows; one query, any number of
 * rows.
 */
const selectReviews = (db: Database) =>
  db
    .select({
      row: columnsOf(reviews, "r"),
      reviewer: columnsOf(users, "u"),
      teams: askedTeam(),
      entryId: qualified<number | null>(sql`(
        select max(${timelineEntries.id})
        from ${timelineEntries}
        where ${timelineEntries.reviewId} = ${reviews.id} and ${timelineEntries.kind} = 'review'
      )`).as("review_entry_id"),
    })
    .from(reviews)
    .leftJoin(users, eq(users.id, reviews.reviewerId))
    .$dynamic();

type ReviewQueryRow = Awaited<ReturnType<typeof selectReviews>>[number];

const toReviewContext = (
  pull: IssueNames,
  { row, reviewer, teams, entryId }: ReviewQueryRow,
): ReviewContext => ({
  pull,
  row,
  team: teams[0],
  entryId: entryId ?? undefined,
  reviewer: row.reviewerId === null ? undefined : (reviewer ?? undefined),
});

/** Selects the id of a pull request by its number. */
export const idOfPull = (repoId: SQL, number: SQL): SQL => sql`(
  select ${issues.id}
  from ${issues}
  where ${isNumbered(repoId, number)} and ${issues.isPull}
)`;

/** Selects the id of its poster. */
export const posterOfPull = (repo: RepositoryContext, number: number): SQL => sql`(
  select ${issues.posterId}
  from ${issues}
  where ${isNumbered(repo.row.id, number)} and ${issues.isPull}
)`;

/**
 * Lists a page of the reviews of a pull request, and of the requests that are not answered, oldest
 * first.
 *
 * @throws Failure `not_found` also where the caller may not see the unit.
 */
export async function listReviews(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  { size, offset }: Slice,
): Promise<Listed<ReviewContext>> {
  const asked = { ...reviewedPullOf(ctx, repo, number), size, offset };
  const {
    pulls: [pull],
    rows,
  } = await batch(ctx.db, reviewPage(ctx.db, asked));
  if (!pull || !isIssueVisible(repo, pull)) throw notFound("pull request does not exist");
  return { items: rows.map((row) => toReviewContext({ repo, row: pull }, row)), total: pull.total };
}

/** A pull request whose reviews a caller reads. */
export interface ReviewedPull {
  readonly repoId: number;
  readonly number: number;
  /** Null for an anonymous caller. */
  readonly callerId: number | null;
}

export const reviewedPullOf = (
  { actor }: Ctx,
  { row }: RepositoryContext,
  number: number,
): ReviewedPull => ({ repoId: row.id, number, callerId: actor.user?.id ?? null });

const isVisibleOf = ({ repoId, number, callerId }: Params<ReviewedPull>): SQL =>
  allOf(sql`${reviews.issueId} = ${idOfPull(repoId, number)}`, isReviewVisible(callerId));

const reviewPage = prepareAll((db, { size, offset, ...pull }: Params<ReviewedPull & Slice>) => {
  const isListed = isVisibleOf(pull);
  const total = sql<number>`(select count(*) from ${reviews} where ${isListed})`;
  return {
    pulls: db
      .select({ ...NAMES, total: qualified<number>(total).as("total") })
      .from(issues)
      .where(and(isNumbered(pull.repoId, pull.number), eq(issues.isPull, true))),
    rows: selectReviews(db).where(isListed).orderBy(asc(reviews.id)).limit(size).offset(offset),
  };
});

const NAMES = { number: issues.number, isPull: issues.isPull };

/**
 * Finds a review of a pull request.
 *
 * @throws Failure `not_found` also for one of another pull request, for a pending one of another
 * user, and where the caller may not see the unit.
 */
export async function findReview(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  id: number,
): Promise<ReviewContext> {
  const [row] = await reviewById(ctx.db, { ...reviewedPullOf(ctx, repo, number), id });
  const pull = { number, isPull: true };
  if (!row || !isIssueVisible(repo, pull)) throw notFound("review does not exist");
  return toReviewContext({ repo, row: pull }, row);
}

const reviewById = prepare((db, { id, ...pull }: Params<ReviewedPull & { id: number }>) =>
  selectReviews(db).where(allOf(eq(reviews.id, id), isVisibleOf(pull))),
);

/** Finds the caller's pending review of a pull request; undefined if there is none. */
export async function findPendingReview(
  ctx: Ctx,
  pull: PullContext,
): Promise<ReviewContext | undefined> {
  const { user: reviewer } = ctx.actor;
  if (!reviewer) return undefined;
  const [row] = await pendingReview(ctx.db, { issueId: pull.row.id, reviewerId: reviewer.id });
  return row && { pull, row, reviewer, team: undefined, entryId: undefined };
}

/** Selects the pending review of a user. */
export const pendingReview = prepare(
  (db, { issueId, reviewerId }: Params<{ issueId: number; reviewerId: number }>) =>
    db
      .select()
      .from(reviews)
      .where(
        and(
          eq(reviews.issueId, issueId),
          eq(reviews.reviewerId, reviewerId),
          // As text, which the partial index needs to see.
          sql`${reviews.state} = 'pending'`,
        ),
      ),
);

/** What a caller has sent with a review as a whole. */
export interface SentText {
  readonly state: Review["state"];
  readonly body: string;
  /** The time from which on it was sent. */
  readonly since: number;
}

/** Finds the latest review that the caller has submitted so; undefined if there is none. */
export async function findSentReview(
  ctx: Ctx,
  pull: PullContext,
  { state, body, since }: SentText,
): Promise<ReviewContext | undefined> {
  const reviewerId = ctx.actor.user?.id ?? null;
  const asked = { issueId: pull.row.id, reviewerId, state, body, since };
  const [row] = await sentReview(ctx.db, asked);
  return row && toReviewContext(pull, row);
}

type SentBy = SentText & { issueId: number; reviewerId: number | null };

const sentReview = prepare((db, p: Params<SentBy>) =>
  selectReviews(db)
    .where(
      allOf(
        eq(reviews.issueId, p.issueId),
        eq(reviews.reviewerId, p.reviewerId),
        eq(reviews.state, p.state),
        eq(reviews.body, p.body),
        gte(reviews.createdAt, p.since),
      ),
    )
    .orderBy(desc(reviews.id))
    .limit(1),
);

/** Reviewers of a pull request that are listed, at most. */
const REVIEWERS_LISTED_MAX = 100;

/**
 * Lists what each reviewer of a pull request has to say, by their names: whether they are asked,
 * else their latest review that approves or asks for changes, else their latest comment. Teams that
 * are asked come last.
 *
 * Cost: one query.
 */
export async function listReviewStates(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
): Promise<ReviewContext[]> {
  const rows = await latestReviews(ctx.db, { repoId: repo.row.id, number });
  const contexts = rows.map((row) => toReviewContext({ repo, row: { number, isPull: true } }, row));
  const byReviewer = new Map<number | string, ReviewContext>();
  // Those that say more come first.
  for (const each of contexts.toSorted((a, b) => weightOf(a) - weightOf(b))) {
    const key = each.row.reviewerId ?? `team ${each.row.teamId ?? each.row.originalAuthor}`;
    if (!byReviewer.has(key)) byReviewer.set(key, each);
  }
  const nameOf = ({ reviewer }: ReviewContext): string => reviewer?.lowerName ?? "\u{10ffff}";
  return [...byReviewer.values()].toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const WEIGHTS: Readonly<Record<Review["state"], number>> = {
  request_review: 0,
  approved: 1,
  request_changes: 1,
  comment: 2,
  pending: 3,
};

const weightOf = ({ row }: ReviewContext): number => WEIGHTS[row.state];

const latestReviews = prepare(
  (db, { repoId, number }: Params<{ repoId: number; number: number }>) => {
    const latestOf = (states: SQL): SQL => sql`
      select max(latest.id)
      from ${reviews} latest
      where latest.issue_id = ${idOfPull(repoId, number)} and latest.state in ${states}
      group by latest.reviewer_id, latest.team_id, latest.original_author`;
    return selectReviews(db)
      .where(
        sql`${reviews.id} in (
          ${latestOf(sql`('request_review')`)}
          union ${latestOf(sql`('approved', 'request_changes')`)}
          union ${latestOf(sql`('comment')`)}
        )`,
      )
      .orderBy(asc(reviews.id))
      .limit(REVIEWERS_LISTED_MAX);
  },
);
