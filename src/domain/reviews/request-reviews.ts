import { and, eq, sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import { reaches } from "../../auth/access/people.ts";
import type { Ctx } from "../../context.ts";
import { anyOf } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issues, reviews, timelineEntries, type Issue } from "../../db/schema/index.ts";
import { recordEach } from "../../events/record.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../shapes/pulls/pull-review.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { insertEntries } from "../issues/insert-entry.ts";
import { requireNotArchived } from "../issues/require-issue-access.ts";
import { requireUnitOn } from "../comments/participation.ts";
import {
  findAskedReviewers,
  findReviewers,
  type LoadedNames,
  type ReviewerNames,
  type Reviewers,
  toIds,
} from "./find-reviewers.ts";
import { isRequest, restoreOfficial } from "./review-states.ts";

/** The pull request that reviews are asked for. Id and number are SQL where the same batch inserts it. */
export interface ReviewablePull {
  readonly repo: RepositoryContext;
  readonly row: Pick<Issue, "posterId"> & {
    readonly id: number | SQL;
    readonly number: number | SQL;
  };
}

/**
 * The statements that ask users and teams to review an open pull request, with a timeline entry and an event for each who
 * was not asked before. They belong into one batch; the second one returns the new requests.
 *
 * Users who lost access since they were found, and those whom a block separates from the owner, the poster or the caller,
 * are left out.
 */
export function requestStatements(
  ctx: Ctx,
  { repo, row }: ReviewablePull,
  { users: people, teams, official }: Reviewers,
) {
  const { db, now } = ctx;
  const wanted = JSON.stringify([
    ...people.map(({ id }) => ({ userId: id, isOfficial: official.userIds.includes(id) })),
    ...teams.map(({ id }) => ({ teamId: id, isOfficial: official.teamIds.includes(id) })),
  ]);
  const userId = sql`wanted.value ->> 'userId'`;
  const teamId = sql`wanted.value ->> 'teamId'`;
  const isOfficial = sql`wanted.value ->> 'isOfficial'`;
  const isAsked = sql`exists (
    select 1 from ${reviews} asked
    where asked.issue_id = ${row.id} and asked.state = 'request_review'
      and (asked.reviewer_id = ${userId} or asked.team_id = ${teamId})
  )`;
  const isOpen = sql`exists (
    select 1 from ${issues} where ${issues.id} = ${row.id} and not ${issues.isClosed}
  )`;
  const isReading = reaches(userId, repo.row, { unit: "pulls", mode: "read" });
  const added = sql`
    from json_each(${wanted}) wanted
    where ${isOpen} and not ${isAsked} and not (${isForbidden(ctx, userId, repo, row)})
      and (${teamId} is not null or ${isReading})`;
  const subject = { repoId: repo.row.id, issueId: row.id };
  const event = {
    type: "pull.review_requested" as const,
    ownerId: repo.row.ownerId,
    number: row.number,
    ...subject,
  };
  const isNew = and(
    eq(reviews.issueId, sql`${row.id}`),
    isRequest,
    sql`not exists (
      select 1 from ${timelineEntries} where ${timelineEntries.reviewId} = ${reviews.id}
    )`,
  );
  const newOnes = (condition: SQL): SQL =>
    sql`from ${reviews} where ${isNew} and ${condition} order by ${reviews.id}`;
  return [
    // Once the review is asked for, only the one that answers counts.
    db
      .update(reviews)
      .set({ isOfficial: false })
      .where(
        and(
          eq(reviews.issueId, sql`${row.id}`),
          eq(reviews.isOfficial, true),
          sql`${reviews.state} <> 'request_review'`,
          sql`${reviews.reviewerId} in (select ${userId} ${added} and ${isOfficial})`,
        ),
      ),
    insertSelect(
      db,
      reviews,
      {
        repoId: repo.row.id,
        issueId: sql`${row.id}`,
        state: "request_review",
        reviewerId: userId,
        teamId,
        isOfficial,
        createdAt: now,
        updatedAt: now,
      },
      sql`${added} order by wanted.key`,
    ).returning(),
    recordEach(
      ctx,
      { ...event, userId: sql`${reviews.reviewerId}`, teamId: null },
      newOnes(sql`${reviews.reviewerId} is not null`),
    ),
    recordEach(
      ctx,
      { ...event, userId: null, teamId: sql`${reviews.teamId}` },
      newOnes(sql`${reviews.teamId} is not null`),
    ),
    insertEntries(
      ctx,
      {
        kind: "review_request" as const,
        ...subject,
        reviewId: sql`${reviews.id}`,
        assigneeId: sql`${reviews.reviewerId}`,
        teamId: sql`${reviews.teamId}`,
      },
      newOnes(sql`1`),
    ),
  ] as const;
}

/** Whoever the owner or the poster blocks is not asked, and nobody is by those whom they block. */
const isForbidden = (
  { actor }: Ctx,
  userId: SQL,
  { row: { ownerId } }: RepositoryContext,
  { posterId }: ReviewablePull["row"],
): SQL =>
  anyOf(
    isBlockedBy(userId, sql`${ownerId}`, sql`${posterId}`),
    isBlockedBy(sql`${actor.user?.id ?? null}`, userId),
  );

/**
 * Asks users and teams to review a pull request. Nobody is asked twice, and nobody is asked to review a closed one.
 *
 * @returns The new requests.
 * @throws Failure as `findReviewers`; `locked` in an archived repository.
 */
export async function requestReviews(
  ctx: Ctx,
  pull: PullContext,
  names: ReviewerNames,
  loaded?: LoadedNames,
): Promise<ReviewContext[]> {
  requireUnitOn(pull);
  requireNotArchived(pull.repo);
  const reviewers = await findReviewers(ctx, toAskedFor(pull), names, loaded);
  return storeRequests(ctx, pull, reviewers);
}

/** Stores requests for reviews, as `requestReviews`. */
export async function storeRequests(
  ctx: Ctx,
  pull: PullContext,
  reviewers: Reviewers,
): Promise<ReviewContext[]> {
  const { users: people, teams } = reviewers;
  if (pull.row.isClosed || people.length + teams.length === 0) return [];
  const [, stored] = await ctx.db.batch(requestStatements(ctx, pull, reviewers));
  return stored.map((row) => ({
    pull,
    row,
    entryId: undefined,
    reviewer: people.find(({ id }) => id === row.reviewerId),
    team: teams.find(({ id }) => id === row.teamId),
  }));
}

/**
 * Takes back requests for reviews, as far as there are any. The last review of a user who is asked no more counts again.
 *
 * @throws Failure as `findAskedReviewers`; `locked` in an archived repository.
 */
export async function removeRequests(
  ctx: Ctx,
  pull: PullContext,
  names: ReviewerNames,
  loaded?: LoadedNames,
): Promise<void> {
  requireUnitOn(pull);
  requireNotArchived(pull.repo);
  const { users: people, teams } = await findAskedReviewers(ctx, toAskedFor(pull), names, loaded);
  if (people.length + teams.length === 0) return;
  const { repo, row } = pull;
  const { userIds, teamIds } = toIds(people, teams);
  const isRemoved = and(
    eq(reviews.issueId, row.id),
    isRequest,
    sql`(
      ${reviews.reviewerId} in (select value from json_each(${JSON.stringify(userIds)}))
      or ${reviews.teamId} in (select value from json_each(${JSON.stringify(teamIds)}))
    )`,
  );
  const removed = (condition: SQL): SQL =>
    sql`from ${reviews} where ${isRemoved} and ${condition} order by ${reviews.id}`;
  const subject = { repoId: repo.row.id, issueId: row.id };
  const event = {
    type: "pull.review_request_removed" as const,
    ownerId: repo.row.ownerId,
    ...subject,
    number: row.number,
  };
  await ctx.db.batch([
    insertEntries(
      ctx,
      {
        kind: "review_request" as const,
        ...subject,
        isAssigneeRemoved: true,
        assigneeId: sql`${reviews.reviewerId}`,
        teamId: sql`${reviews.teamId}`,
      },
      removed(sql`1`),
    ),
    recordEach(
      ctx,
      { ...event, userId: sql`${reviews.reviewerId}`, teamId: null },
      removed(sql`${reviews.reviewerId} is not null`),
    ),
    recordEach(
      ctx,
      { ...event, userId: null, teamId: sql`${reviews.teamId}` },
      removed(sql`${reviews.teamId} is not null`),
    ),
    restoreOfficial(
      ctx,
      row.id,
      sql`(select asked.reviewer_id from ${reviews} asked where asked.id in (
        select ${reviews.id} from ${reviews} where ${isRemoved} and ${reviews.isOfficial}
      ))`,
    ),
    ...dropRequests(ctx, isRemoved),
  ]);
}

/** The statements that delete requests for reviews. The timeline goes on telling that there were any. */
export const dropRequests = ({ db }: Ctx, isDropped: SQL | undefined) =>
  [
    db
      .update(timelineEntries)
      .set({ reviewId: null })
      .where(
        sql`${timelineEntries.reviewId} in (
          select ${reviews.id} from ${reviews} where ${isDropped}
        )`,
      ),
    db.delete(reviews).where(isDropped),
  ] as const;

const toAskedFor = ({ repo, row, pull }: PullContext) => ({
  repo,
  posterId: row.posterId,
  baseBranch: pull.baseBranch,
});
