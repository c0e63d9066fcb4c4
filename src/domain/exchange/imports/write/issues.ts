import { and, eq, not, notExists, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { eligibleUserIds } from "../../../../auth/access/people.ts";
import { insertSelect } from "../../../../db/insert-select.ts";
import {
  issueAssignees,
  issueLabels,
  issues,
  labels,
  milestones,
  reactions,
  repositories,
  timelineEntries,
  users,
} from "../../../../db/schema/index.ts";
import type { ForeignIssue, ForeignPull } from "../../../../forges/forge.ts";
import { PINS_MAX } from "../../../issues/issue/pin-issue.ts";
import { toIssueTitle } from "../../../issues/issue/issue-title.ts";
import { type ImportJob, presentUserId } from "../import-job.ts";
import { accountIdsOf, reactionsOf, toAuthor } from "./authors.ts";
import {
  field,
  freshItem,
  freshItems,
  isImported,
  localIdOf,
  type PageRow,
  reserveIds,
  toStoredText,
} from "./page.ts";

/** Labels and assignees of one issue that are taken. */
const LABELS_MAX = 100;
const ASSIGNEES_MAX = 100;

/** The row of an issue, or of the issue of a pull request, for the statements. */
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

/** The condition that no issue of the repository has the number of an item of a page. */
const isNumberFree = ({ ctx: { db }, repoId }: ImportJob): SQL =>
  notExists(
    db
      .select({ id: issues.id })
      .from(issues)
      .where(and(eq(issues.repoId, repoId), eq(issues.number, field("number")))),
  );

/** The id of the milestone of an item of a page; null if the repository has none such. */
export const milestoneIdOf = (job: ImportJob): SQL<number | null> =>
  sql`${job.ctx.db
    .select({ id: milestones.id })
    .from(milestones)
    .where(
      and(
        eq(milestones.id, localIdOf(job, "milestone", field("milestoneId"))),
        eq(milestones.repoId, job.repoId),
      ),
    )}`;

/**
 * The position of an item of a page among the pinned ones of its kind, if it has one that is free;
 * otherwise 0.
 */
function freePin({ ctx: { db }, repoId }: ImportJob): SQL {
  const pinOrder = field("pinOrder");
  const isFree = notExists(
    db
      .select({ id: issues.id })
      .from(issues)
      .where(
        and(
          eq(issues.repoId, repoId),
          eq(issues.isPull, field("isPull")),
          eq(issues.pinOrder, pinOrder),
        ),
      ),
  );
  return sql`iif(${pinOrder} between 1 and ${PINS_MAX} and ${isFree}, ${pinOrder}, 0)`;
}

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
    reserveIds(job, "issue", issues, rows, { isTaken: isNumberFree(job) }),
    insertSelect(
      ctx.db,
      issues,
      {
        id: freshItem.localId,
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
        milestoneId: milestoneIdOf(job),
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
    reactionStatement(job, "issue", rows),
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
        issueId: freshItem.localId,
        labelId: labels.id,
        repoId,
        isPull: field("isPull"),
        isClosed: field("isClosed"),
      },
      sql`
        ${from}
        join json_each(item.value, '$.labelIds') listed
        join ${labels} on ${labels.id} = ${localIdOf(job, "label", sql`listed.value`)}
        where ${labels.repoId} = ${repoId}`,
    ).onConflictDoNothing(),
    insertSelect(
      ctx.db,
      issueAssignees,
      {
        issueId: freshItem.localId,
        userId: users.id,
        repoId,
        createdAt: field("createdAt"),
      },
      sql`
        ${from}
        join json_each(item.value, '$.assigneeIds') listed
        join ${users} on ${users.id} = listed.value
        where ${users.id} in ${eligibleUserIds(repo.row, "read", [unit])}`,
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
) => {
  const isOfIssue = kind === "issue";
  const entry = sql`join ${timelineEntries} on ${timelineEntries.id} = ${freshItem.localId}`;
  return insertSelect(
    job.ctx.db,
    reactions,
    {
      issueId: isOfIssue ? freshItem.localId : timelineEntries.issueId,
      entryId: isOfIssue ? null : timelineEntries.id,
      userId: users.id,
      content: sql`(given.value ->> 'content')`,
      createdAt: field("createdAt"),
    },
    sql`
      ${freshItems(job, kind, rows)}
      join json_each(item.value, '$.reactions') given
      join ${users} on ${users.id} = given.value ->> 'userId'
      ${isOfIssue ? sql`` : entry}
      where true
      order by item.key, given.key`,
  ).onConflictDoNothing();
};

/** Selects the numbers of a page that issues have which did not come from there. */
export const takenNumbers = (job: ImportJob, rows: readonly IssueRow[]) =>
  job.ctx.db
    .select({ number: issues.number })
    .from(issues)
    .where(
      and(
        eq(issues.repoId, job.repoId),
        sql`${issues.number} in (
          select value from json_each(${JSON.stringify(rows.map(({ number }) => number))})
        )`,
        not(isImported(job, "issue", issues.id)),
      ),
    );
