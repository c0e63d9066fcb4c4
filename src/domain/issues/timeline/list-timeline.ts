import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";

import { selectTeams } from "../../../auth/access/teams.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { columnsOf, qualified } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  codeComments,
  issues,
  labels,
  milestones,
  repositories,
  timelineEntries,
  trackedTimes,
  users,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { TimelineContext } from "../../../shapes/issues/timeline-comment.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered, selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { isEntryUpdatedIn, toWholeSeconds, type UpdatedRange } from "../comments/list-comments.ts";
import { selectComments, toCommentContext } from "../comments/select-comments.ts";
import { isEntryVisible, type TimelineReader, timelineReaderOf } from "./visible-entries.ts";

/**
 * Lists a page of the timeline of an issue or pull request, oldest first: comments and everything
 * else that happened, as far as the caller may see what it refers to.
 *
 * Cost: one round trip. What the entries refer to is selected by the page in the same batch, each
 * kind of thing by one statement.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export async function listTimeline(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  range: UpdatedRange,
  slice: Slice,
): Promise<Listed<TimelineContext>> {
  const list = timelineList(ctx, repo, number, range, slice);
  return toTimeline(ctx, repo, await batch(ctx.db, timelinePage(ctx.db, list))).entries;
}

/**
 * A page of a timeline, as an argument of its statements.
 *
 * @param entryId An entry whose page it is, instead of that at the offset.
 */
export const timelineList = (
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  range: UpdatedRange,
  { size, offset }: Slice,
  entryId?: number,
): TimelineList => ({
  ...timelineReaderOf(ctx, repo),
  number,
  range: toWholeSeconds(range),
  size,
  offset,
  entryId,
});

/**
 * The issue and the entries of a page.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export function toTimeline(
  { actor }: Ctx,
  repo: RepositoryContext,
  { issues: [found], ...page }: Results<ReturnType<typeof timelinePage>>,
): { issue: IssueContext; entries: Listed<TimelineContext>; offset: number } {
  if (!found || !isIssueVisible(repo, found.issue)) throw notFound("issue does not exist");
  const issue = toIssueContext(repo, found);
  const repos = byId(
    page.otherRepos.map((row) => toRepositoryContext(actor, row)),
    ({ row }) => row.id,
  );
  const issuesById = byId(
    page.otherIssues.flatMap((row) => {
      const otherRepo = repos.get(row.issue.repoId);
      return otherRepo ? [toIssueContext(otherRepo, row)] : [];
    }),
    ({ row }) => row.id,
  );
  const commentsById = byId(page.otherComments, ({ comment }) => comment.id);
  const usersById = byId(page.assignees, ({ id }) => id);
  const teamsById = byId(page.teams, ({ id }) => id);
  const labelsById = byId(page.labels, ({ id }) => id);
  const milestonesById = byId([...page.milestones, ...page.oldMilestones], ({ id }) => id);
  const timesById = byId(page.times, ({ row }) => row.id);
  const entries = toListedPage(page, ({ row, poster }): TimelineContext => {
    const comment = at(commentsById, row.otherEntryId);
    const otherIssue = at(issuesById, row.otherIssueId ?? comment?.comment.issueId ?? null);
    const time = at(timesById, row.timeId);
    return {
      issue,
      row,
      poster: row.posterId === null ? undefined : (poster ?? undefined),
      assignee: at(usersById, row.assigneeId),
      team: at(teamsById, row.teamId),
      label: at(labelsById, row.labelId),
      milestone: at(milestonesById, row.milestoneId),
      oldMilestone: at(milestonesById, row.oldMilestoneId),
      otherIssue,
      otherComment: comment && otherIssue && toCommentContext(otherIssue.repo, comment),
      time: time?.row.issueId === issue.row.id ? { ...time, issue } : undefined,
    };
  });
  return { issue, entries, offset: page.counted[0]?.offset ?? 0 };
}

/** A page of a timeline and its reader. */
export interface TimelineList extends TimelineReader, Slice {
  readonly number: number;
  readonly range: UpdatedRange;
  readonly entryId: number | undefined;
}

/** The entries of a page. */
const listed = alias(timelineEntries, "listed");
/** The comment or review to which an entry of the page refers. */
const other = alias(timelineEntries, "other");

/**
 * The conditions for the issue of a timeline and for its entries, a subquery of its id, and the
 * number of entries before the page.
 */
function conditionsOf(list: Params<TimelineList>) {
  const isOfIssue = isNumbered(list.repoId, list.number);
  const issueId = sql`(
    select ${issues.id}
    from ${issues}
    where ${isOfIssue}
  )`;
  const isListed = and(
    eq(timelineEntries.issueId, issueId),
    isEntryUpdatedIn(list.range),
    // As in Gitea, comments on code are listed with their reviews.
    sql`${timelineEntries.kind} <> 'code'`,
    isEntryVisible(list),
  );
  // Comments on code stand with the review that began their conversation.
  const entryId =
    list.entryId &&
    sql`coalesce((
      select max(shown.id)
      from ${codeComments} said
      join ${codeComments} begun on begun.entry_id = coalesce(said.root_id, said.entry_id)
      join ${timelineEntries} shown on shown.review_id = begun.review_id and shown.kind = 'review'
      where said.entry_id = ${list.entryId}
    ), ${list.entryId})`;
  const offset =
    entryId === undefined
      ? list.offset
      : // A subquery of a subquery: SQLite takes 100 levels of expressions, which end at a `from`.
        sql<number>`(
          select cast(before / ${list.size} as integer) * ${list.size}
          from (
            select count(*) as before
            from ${timelineEntries}
            where ${isListed} and ${timelineEntries.id} < ${entryId}
          )
        )`;
  return { isOfIssue, issueId, isListed, offset };
}

/** Selects the ids of the entries of a page. */
export function timelineIds(list: Params<TimelineList>): SQL {
  const { isListed, offset } = conditionsOf(list);
  return sql`(
    select ${timelineEntries.id}
    from ${timelineEntries}
    where ${isListed}
    order by ${timelineEntries.id}
    limit ${list.size} offset ${offset}
  )`;
}

/** The statements of a page: the issue, its entries, and what these refer to. */
export const timelinePage = prepareAll((db, list: Params<TimelineList>) => {
  const { isOfIssue, isListed, offset } = conditionsOf(list);
  const total = sql<number>`(
    select count(*)
    from ${timelineEntries}
    where ${isListed}
  )`;
  const page = sql`(
    select *
    from ${timelineEntries}
    where ${isListed}
    order by ${timelineEntries.id}
    limit ${list.size} offset ${offset}
  ) ${listed}`;
  const idsOf = (column: SQLiteColumn): SQL => sql`(
    select ${column}
    from ${page}
    where ${column} is not null
  )`;
  const otherIssueIds = sql`(
    select coalesce(${listed.otherIssueId}, ${other.issueId})
    from ${page}
    left join ${timelineEntries} ${other} on ${other.id} = ${listed.otherEntryId}
    where coalesce(${listed.otherIssueId}, ${listed.otherEntryId}) is not null
  )`;
  const otherRepoIds = sql`(
    select ${issues.repoId}
    from ${issues}
    where ${issues.id} in ${otherIssueIds}
  )`;
  return {
    issues: selectIssues(db).where(isOfIssue),
    counted: db
      .select({
        total: qualified<number>(total).as("total"),
        offset: qualified<number>(sql`${offset}`).as("entries_before"),
      })
      .from(issues)
      .where(isOfIssue),
    rows: db
      .select({ row: columnsOf(timelineEntries, "t"), poster: columnsOf(users, "p") })
      .from(timelineEntries)
      .leftJoin(users, eq(users.id, timelineEntries.posterId))
      .where(isListed)
      .orderBy(asc(timelineEntries.id))
      .limit(list.size)
      .offset(offset as typeof list.offset),
    assignees: db
      .select()
      .from(users)
      .where(sql`${users.id} in ${idsOf(listed.assigneeId)}`),
    labels: db
      .select()
      .from(labels)
      .where(sql`${labels.id} in ${idsOf(listed.labelId)}`),
    milestones: db
      .select()
      .from(milestones)
      .where(sql`${milestones.id} in ${idsOf(listed.milestoneId)}`),
    oldMilestones: db
      .select()
      .from(milestones)
      .where(sql`${milestones.id} in ${idsOf(listed.oldMilestoneId)}`),
    times: db
      .select({ row: columnsOf(trackedTimes, "t"), user: columnsOf(users, "u") })
      .from(trackedTimes)
      .innerJoin(users, eq(users.id, trackedTimes.userId))
      .where(sql`${trackedTimes.id} in ${idsOf(listed.timeId)}`),
    teams: selectTeams(db, idsOf(listed.teamId)),
    otherRepos: selectRepositories(db, toCallerSql(list.principal)).where(
      sql`${repositories.id} in ${otherRepoIds}`,
    ),
    otherIssues: selectIssues(db).where(sql`${issues.id} in ${otherIssueIds}`),
    otherComments: selectComments(db).where(
      sql`${timelineEntries.id} in ${idsOf(listed.otherEntryId)}`,
    ),
  };
});

const byId = <T>(list: readonly T[], idOf: (item: T) => number): ReadonlyMap<number, T> =>
  new Map(list.map((item) => [idOf(item), item]));

const at = <T>(map: ReadonlyMap<number, T>, id: number | null): T | undefined =>
  id === null ? undefined : map.get(id);
