import { eq, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { eligibleUserIds } from "../../../../auth/access/people.ts";
import { insertSelect } from "../../../../db/insert-select.ts";
import {
  issueAssignees,
  issueLabels,
  issues,
  reactions,
  repositories,
} from "../../../../db/schema/index.ts";
import type { ForeignIssue, ForeignPull } from "../../../../forges/forge.ts";
import { PINS_MAX } from "../../../issues/issue/pin-issue.ts";
import { toIssueTitle } from "../../../issues/issue/issue-title.ts";
import { type ImportJob, presentUserId } from "../import-job.ts";
import { accountIdsOf, reactionsOf, toAuthor } from "./authors.ts";
import { field, freshItems, localIdOf, type PageRow, reserveIds, toStoredText } from "./page.ts";

/** Labels and assignees of one issue that are taken. */
const LABELS_MAX = 100;
const ASSIGNEES_MAX = 100;

/** What issues and pull requests have in common, as it goes into statements. */
export function toIssueRow(job: ImportJob, item: ForeignIssue | ForeignPull) {
  const name = `${item.kind} ${item.number}`;
  const title = toIssueTitle(item.title.toWellFormed().replaceAll("\0", "\uFFFD"));
  return {
    foreignId: item.foreignId,
    revision: String(item.updatedAt),
    number: item.number,
    isPull: item.kind === "pull",
    ...toAuthor(job, item.poster),
    title: title === "" ? `#${item.number}` : title,
    body: toStoredText(job, item.body, name),
    ref: item.ref.slice(0, 1000).toWellFormed(),
    isClosed: item.isClosed,
    closedAt: item.isClosed ? (item.closedAt ?? item.updatedAt) : null,
    isLocked: item.isLocked,
    milestoneId: item.milestoneId,
    deadlineAt: item.deadlineAt,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    pinOrder: item.pinOrder ?? 0,
    timeEstimateSeconds: item.timeEstimateSeconds ?? 0,
    labelIds: item.labelIds.slice(0, LABELS_MAX),
    assigneeIds: accountIdsOf(job, item.assignees).slice(0, ASSIGNEES_MAX),
    reactions: reactionsOf(job, item.reactions),
  };
}
export type IssueRow = ReturnType<typeof toIssueRow>;

/**
 * The number that an issue of the repository has already, which did not come from there: it keeps
 * the number.
 */
const isNumberFree = (repoId: number): SQL => sql`not exists (
  select 1 from issues i where i.repo_id = ${repoId} and i.number = ${field("number")}
)`;

/** The condition for an item of a page whose milestone belongs to the repository. */
const milestoneOf = (job: ImportJob): SQL => sql`(
  select m.id
  from milestones m
  where m.id = ${localIdOf(job, "milestone", field("milestoneId"))} and m.repo_id = ${job.repoId}
)`;

/**
 * The position of an item of a page among the pinned ones of its kind, if it has one that is free;
 * otherwise 0.
 */
const freePin = ({ repoId }: ImportJob): SQL => sql`iif(
  ${field("pinOrder")} between 1 and ${PINS_MAX} and not exists (
    select 1 from issues i
    where i.repo_id = ${repoId} and i.is_pull = ${field("isPull")}
      and i.pin_order = ${field("pinOrder")}
  ),
  ${field("pinOrder")}, 0
)`;

/**
 * The statements that take the rows of issues or pull requests which were not taken before, with
 * their labels, assignees and reactions. `settleItems` must follow.
 */
export function issueStatements(job: ImportJob, rows: readonly IssueRow[]): BatchItem<"sqlite">[] {
  if (rows.length === 0) return [];
  const { ctx, repoId } = job;
  const fresh = freshItems(job, "issue", rows);
  const highest = Math.max(...rows.map(({ number }) => number));
  return [
    reserveIds(job, "issue", "issues", rows, { isTaken: isNumberFree(repoId) }),
    insertSelect(
      ctx.db,
      issues,
      {
        id: sql`fresh.local_id`,
        repoId,
        number: field("number"),
        isPull: field("isPull"),
        posterId: presentUserId(field("posterId")),
        originalAuthor: field("originalAuthor"),
        originalAuthorId: field("originalAuthorId"),
        title: field("title"),
        body: field("body"),
        ref: field("ref"),
        isClosed: field("isClosed"),
        closedAt: field("closedAt"),
        isLocked: field("isLocked"),
        milestoneId: milestoneOf(job),
        deadlineAt: field("deadlineAt"),
        timeEstimateSeconds: field("timeEstimateSeconds"),
        pinOrder: freePin(job),
        createdAt: field("createdAt"),
        updatedAt: field("updatedAt"),
      },
      sql`${fresh} order by item.key`,
    ),
    ctx.db
      .update(repositories)
      .set({ lastIssueNumber: sql`max(${repositories.lastIssueNumber}, ${highest})` })
      .where(eq(repositories.id, repoId)),
    ...belongingStatements(job, rows, fresh),
    reactionStatement(job, "issue", rows, sql`fresh.local_id`, sql`null`),
  ];
}

/** The statements that give issues their labels and assignees. */
export function belongingStatements(job: ImportJob, rows: readonly IssueRow[], from: SQL) {
  const { ctx, repoId, repo } = job;
  const unit = rows[0]?.isPull ? "pulls" : "issues";
  return [
    insertSelect(
      ctx.db,
      issueLabels,
      {
        issueId: sql`fresh.local_id`,
        labelId: sql`l.id`,
        repoId,
        isPull: field("isPull"),
        isClosed: field("isClosed"),
      },
      sql`
        ${from}
        join json_each(item.value, '$.labelIds') wanted
        join foreign_items known
          on known.repo_id = ${repoId} and known.kind = 'label' and known.foreign_id = wanted.value
        join labels l on l.id = known.local_id and l.repo_id = ${repoId}
        where true`,
    ).onConflictDoNothing(),
    insertSelect(
      ctx.db,
      issueAssignees,
      {
        issueId: sql`fresh.local_id`,
        userId: sql`u.id`,
        repoId,
        createdAt: field("createdAt"),
      },
      sql`
        ${from}
        join json_each(item.value, '$.assigneeIds') wanted
        join users u on u.id = wanted.value
        where u.id in ${eligibleUserIds(repo.row, "read", [unit])}`,
    ).onConflictDoNothing(),
  ];
}

/** The statement that takes the reactions of fresh issues or comments. */
export const reactionStatement = (
  job: ImportJob,
  kind: "issue" | "comment" | "review_comment",
  rows: readonly (PageRow & {
    readonly reactions: readonly object[];
    readonly createdAt: number;
  })[],
  issueId: SQL,
  entryId: SQL,
) =>
  insertSelect(
    job.ctx.db,
    reactions,
    {
      issueId,
      entryId,
      userId: sql`u.id`,
      content: sql`(given.value ->> 'content')`,
      createdAt: field("createdAt"),
    },
    sql`
      ${freshItems(job, kind, rows)}
      join json_each(item.value, '$.reactions') given
      join users u on u.id = given.value ->> 'userId'
      ${kind === "issue" ? sql`` : sql`join timeline_entries e on e.id = fresh.local_id`}
      where true
      order by item.key, given.key`,
  ).onConflictDoNothing();

/** Selects the numbers of a page that issues have which did not come from there. */
export const takenNumbers = ({ ctx, repoId }: ImportJob, rows: readonly IssueRow[]) =>
  ctx.db
    .select({ number: issues.number })
    .from(issues)
    .where(
      sql`${issues.repoId} = ${repoId}
        and ${issues.number} in (
          select value from json_each(${JSON.stringify(rows.map(({ number }) => number))})
        )
        and not exists (
          select 1 from foreign_items known
          where known.repo_id = ${repoId} and known.kind = 'issue'
            and known.local_id = ${issues.id}
        )`,
    );
