import { and, eq, sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import { type Reach, reachesBy, reachOf } from "../../../auth/access/people.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { anyOf, type Database } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, reviews, timelineEntries, type Issue } from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, recordBy } from "../../../events/record.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { entryArgument, type EntryArgument } from "../../issues/issue/insert-entry.ts";
import { type IssueArgument, issueSql } from "../../issues/issue/new-issue-id.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { requireUnitOn } from "../../issues/comments/participation.ts";
import {
  findAskedReviewers,
  findReviewers,
  type LoadedNames,
  type ReviewerNames,
  type Reviewers,
  toIds,
} from "./find-reviewers.ts";
import { isRequest, restoreOfficial } from "./review-states.ts";

/**
 * The pull request that reviews are asked for; without id and number, the one that the batch
 * inserts.
 */
export interface ReviewablePull {
  readonly repo: RepositoryContext;
  readonly row: Pick<Issue, "posterId"> & Partial<Pick<Issue, "id" | "number">>;
}

/**
 * The statements that ask users and teams to review an open pull request, with a timeline entry and
 * an event for each who was not asked before. They belong into one batch; the second one returns
 * the new requests.
 *
 * Users who lost access since they were found, and those whom a block separates from the owner, the
 * poster or the caller, are left out.
 */
export function requestStatements(
  ctx: Ctx,
  { repo, row }: ReviewablePull,
  { users: people, teams, official, areOwners }: Reviewers,
) {
  const { id: repoId, ownerId } = repo.row;
  const { id = COMPUTED, number = COMPUTED, posterId } = row;
  const type = "pull.review_requested" as const;
  const event = { type, ownerId, number, repoId, issueId: id };
  const args: RequestArguments = {
    repoId,
    ownerId,
    ...(row.id !== undefined && { issueId: row.id }),
    posterId,
    actorId: ctx.actor.user?.id ?? null,
    requested: JSON.stringify([
      ...people.map((user) => ({
        userId: user.id,
        isOfficial: official.userIds.includes(user.id),
        areOwners,
      })),
      ...teams.map((team) => ({
        teamId: team.id,
        isOfficial: official.teamIds.includes(team.id),
        areOwners,
      })),
    ]),
    entry: entryArgument(ctx),
    ofUser: eventArgument(ctx, { ...event, userId: COMPUTED, teamId: null }),
    ofTeam: eventArgument(ctx, { ...event, userId: null, teamId: COMPUTED }),
  };
  return storeRequested(ctx.db, args, { reach: reachOf(repo.row, TO_READ_PULLS) });
}

const TO_READ_PULLS: Requirement = { unit: "pulls", mode: "read" };

interface RequestArguments extends IssueArgument {
  readonly ownerId: number;
  readonly posterId: number | null;
  readonly actorId: number | null;
  /** JSON. */
  readonly requested: string;
  readonly entry: EntryArgument;
  readonly ofUser: EventArgument;
  readonly ofTeam: EventArgument;
}

/**
 * The statements that record an event of each request that `requests` selects: of users, and of
 * teams.
 *
 * @param computed The fields of the issue that the events lack.
 */
const recordOfEach = (
  db: Database,
  { ofUser, ofTeam }: Params<{ ofUser: EventArgument; ofTeam: EventArgument }>,
  computed: Readonly<Record<string, SQL>>,
  requests: (condition: SQL) => SQL,
) => ({
  recordsOfUsers: recordBy(
    db,
    ofUser,
    { ...computed, userId: sql`${reviews.reviewerId}` },
    requests(sql`${reviews.reviewerId} is not null`),
  ),
  recordsOfTeams: recordBy(
    db,
    ofTeam,
    { ...computed, teamId: sql`${reviews.teamId}` },
    requests(sql`${reviews.teamId} is not null`),
  ),
});

const storeRequested = prepareAll(
  (db, p: Params<RequestArguments>, { reach }: { reach: Reach | undefined }) => {
    const { repoId, ownerId, requested, entry } = p;
    const { issueId, computed } = issueSql(p);
    const userId = sql`requested.value ->> 'userId'`;
    const teamId = sql`requested.value ->> 'teamId'`;
    const isOfficial = sql`requested.value ->> 'isOfficial'`;
    const isAsked = sql`exists (
      select 1 from ${reviews} asked
      where asked.issue_id = ${issueId} and asked.state = 'request_review'
        and (asked.reviewer_id = ${userId} or asked.team_id = ${teamId})
    )`;
    const isOpen = sql`exists (
      select 1 from ${issues} where ${issues.id} = ${issueId} and not ${issues.isClosed}
    )`;
    const isReading = reach ? reachesBy(userId, { id: repoId, ownerId }, reach) : sql`0`;
    // A block by the owner or the poster, or of the caller by the user, prevents the request.
    const isForbidden = anyOf(
      isBlockedBy(userId, ownerId, p.posterId),
      isBlockedBy(p.actorId, userId),
    );
    const added = sql`
      from json_each(${requested}) requested
      where ${isOpen} and not ${isAsked} and not (${isForbidden})
        and (${teamId} is not null or ${isReading})`;
    const isNew = and(
      eq(reviews.issueId, issueId),
      isRequest,
      sql`not exists (
        select 1 from ${timelineEntries} where ${timelineEntries.reviewId} = ${reviews.id}
      )`,
    );
    const newOnes = (condition: SQL): SQL =>
      sql`from ${reviews} where ${isNew} and ${condition} order by ${reviews.id}`;
    return {
      // Once the review is asked for, only the one that answers counts.
      uncounted: db
        .update(reviews)
        .set({ isOfficial: false })
        .where(
          and(
            eq(reviews.issueId, issueId),
            eq(reviews.isOfficial, true),
            sql`${reviews.state} <> 'request_review'`,
            sql`${reviews.reviewerId} in (select ${userId} ${added} and ${isOfficial})`,
          ),
        ),
      requests: insertSelect(
        db,
        reviews,
        {
          repoId,
          issueId,
          state: "request_review",
          reviewerId: userId,
          teamId,
          isOfficial,
          isOfOwner: sql`requested.value ->> 'areOwners'`,
          createdAt: entry.createdAt,
          updatedAt: entry.updatedAt,
        },
        sql`${added} order by requested.key`,
      ).returning(),
      ...recordOfEach(db, p, computed, newOnes),
      requestEntries: insertSelect(
        db,
        timelineEntries,
        {
          kind: "review_request",
          repoId,
          issueId,
          ...entry,
          reviewId: sql`${reviews.id}`,
          assigneeId: sql`${reviews.reviewerId}`,
          teamId: sql`${reviews.teamId}`,
        },
        newOnes(sql`1`),
      ),
    };
  },
);

/**
 * Requests reviews of a pull request from users and teams. Skips repeated requests, and closed pull
 * requests.
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
  const { requests } = await batch(ctx.db, requestStatements(ctx, pull, reviewers));
  return requests.map((row) => ({
    pull,
    row,
    entryId: undefined,
    reviewer: people.find(({ id }) => id === row.reviewerId),
    team: teams.find(({ id }) => id === row.teamId),
  }));
}

/**
 * Removes requests for reviews; unknown ones are ignored. The last review of a user without a
 * request counts again.
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
  const { id: repoId, ownerId } = repo.row;
  const type = "pull.review_request_removed" as const;
  const event = { type, ownerId, repoId, issueId: row.id, number: row.number };
  const statements = removeRequested(ctx.db, {
    repoId,
    issueId: row.id,
    userIds,
    teamIds,
    entry: entryArgument(ctx),
    ofUser: eventArgument(ctx, { ...event, userId: COMPUTED, teamId: null }),
    ofTeam: eventArgument(ctx, { ...event, userId: null, teamId: COMPUTED }),
  });
  await batch(ctx.db, statements);
}

interface RemovedRequests {
  readonly repoId: number;
  readonly issueId: number;
  readonly userIds: readonly number[];
  readonly teamIds: readonly number[];
  readonly entry: EntryArgument;
  readonly ofUser: EventArgument;
  readonly ofTeam: EventArgument;
}

const removeRequested = prepareAll((db, p: Params<RemovedRequests>) => {
  const { repoId, issueId } = p;
  const isRemoved = and(
    eq(reviews.issueId, issueId),
    isRequest,
    sql`(${reviews.reviewerId} in ${p.userIds} or ${reviews.teamId} in ${p.teamIds})`,
  );
  const removed = (condition: SQL): SQL =>
    sql`from ${reviews} where ${isRemoved} and ${condition} order by ${reviews.id}`;
  return {
    removalEntries: insertSelect(
      db,
      timelineEntries,
      {
        kind: "review_request",
        repoId,
        issueId,
        ...p.entry,
        isAssigneeRemoved: true,
        assigneeId: sql`${reviews.reviewerId}`,
        teamId: sql`${reviews.teamId}`,
      },
      removed(sql`1`),
    ),
    ...recordOfEach(db, p, {}, removed),
    restored: restoreOfficial(
      db,
      issueId,
      sql`(select asked.reviewer_id from ${reviews} asked where asked.id in (
        select ${reviews.id} from ${reviews} where ${isRemoved} and ${reviews.isOfficial}
      ))`,
    ),
    ...deleteRequestStatements(db, isRemoved),
  };
});

/** The statements that delete requests for reviews. Their entries stay in the timeline. */
export const deleteRequestStatements = (db: Database, isDropped: SQL | undefined) => ({
  unlinkedEntries: db
    .update(timelineEntries)
    .set({ reviewId: null })
    .where(
      sql`${timelineEntries.reviewId} in (
          select ${reviews.id} from ${reviews} where ${isDropped}
        )`,
    ),
  dropped: db.delete(reviews).where(isDropped),
});

const toAskedFor = ({ repo, row, pull }: PullContext) => ({
  repo,
  posterId: row.posterId,
  baseBranch: pull.baseBranch,
});
