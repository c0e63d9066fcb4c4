import { and, asc, eq, sql, type SQL } from "drizzle-orm";

import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf, qualified } from "../../db/db.ts";
import {
  issues,
  labels,
  milestones,
  repositories,
  timelineEntries,
  trackedTimes,
  users,
  type TimelineEntry,
  type User,
} from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import type { TimelineContext } from "../../shapes/issues/timeline-comment.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered, selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { isEntryUpdatedIn, type UpdatedRange } from "./list-comments.ts";
import { selectComments, toCommentContext } from "./select-comments.ts";
import { isEntryVisible } from "./visible-entries.ts";

/**
 * Lists a page of the timeline of an issue or pull request, oldest first: comments and everything else that happened, as
 * far as the caller may see what it refers to.
 *
 * Cost: one round trip; one more if an entry of the page is anything but a comment.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export async function listTimeline(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  range: UpdatedRange,
  { size, offset }: Slice,
): Promise<Listed<TimelineContext>> {
  const { db } = ctx;
  const isOfIssue = isNumbered(repo.row.id, number);
  const issueId = sql`(
    select ${issues.id}
    from ${issues}
    where ${isOfIssue}
  )`;
  const isListed = and(
    eq(timelineEntries.issueId, issueId),
    isEntryUpdatedIn(range),
    isEntryVisible(ctx, repo),
  );
  const total = sql<number>`(
    select count(*)
    from ${timelineEntries}
    where ${isListed}
  )`;
  const [[found], [counted], rows] = await db.batch([
    selectIssues(db).where(isOfIssue),
    db
      .select({ total: qualified<number>(total).as("total") })
      .from(issues)
      .where(isOfIssue),
    db
      .select({ row: columnsOf(timelineEntries, "t"), poster: columnsOf(users, "p") })
      .from(timelineEntries)
      .leftJoin(users, eq(users.id, timelineEntries.posterId))
      .where(isListed)
      .orderBy(asc(timelineEntries.id))
      .limit(size)
      .offset(offset),
  ]);
  if (!found || !isIssueVisible(repo, found.issue)) throw notFound("issue does not exist");
  const issue = toIssueContext(repo, found);
  const entries = rows.map(({ row, poster }) => ({
    row,
    poster: row.posterId === null ? undefined : (poster ?? undefined),
  }));
  return { items: await toTimeline(ctx, issue, entries), total: counted?.total ?? 0 };
}

/** A list of ids as the operand of `in`. */
const idsOf = (
  entries: readonly TimelineEntry[],
  ...columns: readonly (keyof TimelineEntry)[]
): SQL => {
  const ids = entries.flatMap((entry) => columns.map((column) => entry[column]));
  return sql`(
    select value
    from json_each(${JSON.stringify([...new Set(ids.filter((id) => id !== null))])})
  )`;
};

/** Loads what the entries of a page refer to, each kind of thing by one statement. */
async function toTimeline(
  ctx: Ctx,
  issue: IssueContext,
  entries: readonly { row: TimelineEntry; poster: User | undefined }[],
): Promise<TimelineContext[]> {
  const { db, actor } = ctx;
  const others = entries.map(({ row }) => row).filter(({ kind }) => kind !== "comment");
  const issueIds = sql`(
    select value
    from json_each(${JSON.stringify(others.map(({ otherIssueId }) => otherIssueId))})
    union
    select ${timelineEntries.issueId}
    from ${timelineEntries}
    where ${timelineEntries.id} in ${idsOf(others, "otherEntryId")}
  )`;
  if (others.length === 0) {
    return entries.map((entry) => ({ ...NO_REFERENCES, ...entry, issue }));
  }
  const repoIds = sql`(
    select ${issues.repoId}
    from ${issues}
    where ${issues.id} in ${issueIds}
  )`;
  const [foundUsers, foundLabels, foundMilestones, foundRepos, foundIssues, foundComments, times] =
    await db.batch([
      db
        .select()
        .from(users)
        .where(sql`${users.id} in ${idsOf(others, "assigneeId")}`),
      db
        .select()
        .from(labels)
        .where(sql`${labels.id} in ${idsOf(others, "labelId")}`),
      db
        .select()
        .from(milestones)
        .where(sql`${milestones.id} in ${idsOf(others, "milestoneId", "oldMilestoneId")}`),
      selectRepositories(db, callerSql(actor)).where(sql`${repositories.id} in ${repoIds}`),
      selectIssues(db).where(sql`${issues.id} in ${issueIds}`),
      selectComments(db).where(sql`${timelineEntries.id} in ${idsOf(others, "otherEntryId")}`),
      db
        .select({ row: columnsOf(trackedTimes, "t"), user: columnsOf(users, "u") })
        .from(trackedTimes)
        .innerJoin(users, eq(users.id, trackedTimes.userId))
        .where(
          and(
            sql`${trackedTimes.id} in ${idsOf(others, "timeId")}`,
            eq(trackedTimes.issueId, issue.row.id),
          ),
        ),
    ]);
  const repos = byId(
    [issue.repo, ...foundRepos.map((row) => toRepositoryContext(actor, row))],
    ({ row }) => row.id,
  );
  // SECURITY: the permissions of now, which may be less than those by which the page was selected.
  const issuesById = byId(
    foundIssues.flatMap((row) => {
      const repo = repos.get(row.issue.repoId);
      return repo && isIssueVisible(repo, row.issue) ? [toIssueContext(repo, row)] : [];
    }),
    ({ row }) => row.id,
  );
  const commentsById = byId(
    foundComments.flatMap((row) => {
      const repo = issuesById.get(row.comment.issueId)?.repo;
      return repo ? [toCommentContext(repo, row)] : [];
    }),
    ({ row }) => row.id,
  );
  const usersById = byId(foundUsers, ({ id }) => id);
  const labelsById = byId(foundLabels, ({ id }) => id);
  const milestonesById = byId(foundMilestones, ({ id }) => id);
  const timesById = byId(times, ({ row }) => row.id);
  return entries.flatMap(({ row, poster }) => {
    const otherComment = at(commentsById, row.otherEntryId);
    const otherIssue = at(issuesById, row.otherIssueId ?? otherComment?.row.issueId ?? null);
    const isReference = row.otherIssueId !== null || row.otherEntryId !== null;
    if (isReference && !otherIssue) return [];
    const time = at(timesById, row.timeId);
    return {
      issue,
      row,
      poster,
      assignee: at(usersById, row.assigneeId),
      label: at(labelsById, row.labelId),
      milestone: at(milestonesById, row.milestoneId),
      oldMilestone: at(milestonesById, row.oldMilestoneId),
      otherIssue,
      otherComment,
      time: time && { ...time, issue },
    };
  });
}

const NO_REFERENCES = {
  assignee: undefined,
  label: undefined,
  milestone: undefined,
  oldMilestone: undefined,
  otherIssue: undefined,
  otherComment: undefined,
  time: undefined,
};

const byId = <T>(list: readonly T[], idOf: (item: T) => number): ReadonlyMap<number, T> =>
  new Map(list.map((item) => [idOf(item), item]));

const at = <T>(map: ReadonlyMap<number, T>, id: number | null): T | undefined =>
  id === null ? undefined : map.get(id);
