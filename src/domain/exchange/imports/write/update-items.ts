import { and, ne, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import {
  type ForeignItem,
  foreignItems,
  issueAssignees,
  issueLabels,
  issues,
  labels,
  milestones,
  pulls,
  releases,
  timelineEntries,
} from "../../../../db/schema/index.ts";
import { type ImportJob, presentUserId } from "../import-job.ts";
import type { CommentRow } from "./comments.ts";
import { belongingStatements, type IssueRow, milestoneIdOf } from "./issues.ts";
import type { LabelRow, MilestoneRow } from "./labels.ts";
import { field, freshItem, isFreshItem, type PageRow, rowsOf } from "./page.ts";
import type { PullRow } from "./pulls.ts";
import type { ReleaseRow } from "./releases.ts";

type Statements = BatchItem<"sqlite">[];

/**
 * Whether the import updates items that it imported before. Only an import of a mirror does, where
 * items are read-only. Other imports add new items only, since people may have edited the others.
 */
const isUpdating = ({ row }: ImportJob): boolean => row.options.since !== undefined;

/**
 * The clauses over the items of a page that were taken before and have changed there since, as
 * `item` and `freshItem`.
 */
const changedItems = (
  { repoId }: ImportJob,
  kind: ForeignItem["kind"],
  rows: readonly PageRow[],
): SQL => sql`
  from ${rowsOf(rows)}
  join ${foreignItems} ${freshItem}
    on ${and(isFreshItem(repoId, kind), ne(freshItem.revision, field("revision")))}`;

/** The same as a table expression of an `update … from`. */
const changedTable = (job: ImportJob, kind: ForeignItem["kind"], rows: readonly PageRow[]) =>
  sql`(
    select item.value as value, ${freshItem.localId} as id ${changedItems(job, kind, rows)}
  ) item`;

/** The statements that update labels. They precede those that insert the page. */
export function labelUpdates(job: ImportJob, rows: readonly LabelRow[]): Statements {
  if (!isUpdating(job) || rows.length === 0) return [];
  const { now } = job.ctx;
  return [
    job.ctx.db
      .update(labels)
      .set({
        name: field("name"),
        color: field("color"),
        description: field("description"),
        isExclusive: field("isExclusive"),
        archivedAt: sql`iif(
          ${field("isArchived")}, coalesce(${labels.archivedAt}, ${now}), null
        )`,
        updatedAt: now,
      })
      .from(changedTable(job, "label", rows))
      .where(sql`${labels.id} = item.id and ${labels.repoId} = ${job.repoId}`),
  ];
}

/** The statements that update milestones. They precede those that insert the page. */
export function milestoneUpdates(job: ImportJob, rows: readonly MilestoneRow[]): Statements {
  if (!isUpdating(job) || rows.length === 0) return [];
  return [
    job.ctx.db
      .update(milestones)
      .set({
        title: field("title"),
        description: field("description"),
        isClosed: field("isClosed"),
        closedAt: field("closedAt"),
        deadlineAt: field("deadlineAt"),
        updatedAt: field("updatedAt"),
      })
      .from(changedTable(job, "milestone", rows))
      .where(sql`${milestones.id} = item.id and ${milestones.repoId} = ${job.repoId}`),
  ];
}

/**
 * The statements that update issues, and the issues of pull requests. They precede those that
 * insert the page.
 */
export function issueUpdates(job: ImportJob, rows: readonly IssueRow[]): Statements {
  if (!isUpdating(job) || rows.length === 0) return [];
  const { ctx, repoId } = job;
  const changed = changedItems(job, "issue", rows);
  const isChanged = (issueId: unknown): SQL =>
    sql`${issueId} in (select ${freshItem.localId} ${changed})`;
  return [
    ctx.db.delete(issueLabels).where(isChanged(issueLabels.issueId)),
    ctx.db.delete(issueAssignees).where(isChanged(issueAssignees.issueId)),
    ctx.db
      .update(issues)
      .set({
        title: field("title"),
        contentVersion: sql`${issues.contentVersion} + (${issues.body} <> ${field("body")})`,
        body: field("body"),
        ref: field("ref"),
        isClosed: field("isClosed"),
        closedAt: field("closedAt"),
        isLocked: field("isLocked"),
        milestoneId: milestoneIdOf(job),
        deadlineAt: field("deadlineAt"),
        updatedAt: field("updatedAt"),
      })
      .from(changedTable(job, "issue", rows))
      .where(sql`${issues.id} = item.id and ${issues.repoId} = ${repoId}`),
    ...belongingStatements(job, rows, changed),
  ];
}

/** The statements that update pull requests. */
export function pullUpdates(job: ImportJob, rows: readonly PullRow[]): Statements {
  if (!isUpdating(job) || rows.length === 0) return [];
  return [
    ...issueUpdates(job, rows),
    job.ctx.db
      .update(pulls)
      .set({
        headOid: field("headOid"),
        baseBranch: field("baseBranch"),
        mergeBaseOid: field("mergeBaseOid"),
        mergedAt: field("mergedAt"),
        mergerId: presentUserId(field("mergerId")),
        mergeCommitOid: field("mergeCommitOid"),
        mergedBaseOid: field("mergedBaseOid"),
        mergeKind: field("mergeKind"),
      })
      .from(changedTable(job, "issue", rows))
      .where(sql`${pulls.issueId} = item.id and ${pulls.repoId} = ${job.repoId}`),
  ];
}

/** The statements that update comments. */
export function commentUpdates(job: ImportJob, rows: readonly CommentRow[]): Statements {
  if (!isUpdating(job) || rows.length === 0) return [];
  return [
    job.ctx.db
      .update(timelineEntries)
      .set({
        contentVersion: sql`${timelineEntries.contentVersion} + 1`,
        body: field("body"),
        updatedAt: field("updatedAt"),
      })
      .from(changedTable(job, "comment", rows))
      .where(sql`${timelineEntries.id} = item.id and ${timelineEntries.repoId} = ${job.repoId}`),
  ];
}

/** The statements that update releases. */
export function releaseUpdates(job: ImportJob, rows: readonly ReleaseRow[]): Statements {
  if (!isUpdating(job) || rows.length === 0) return [];
  return [
    job.ctx.db
      .update(releases)
      .set({
        title: field("title"),
        body: field("body"),
        isDraft: field("isDraft"),
        isPrerelease: field("isPrerelease"),
        publishedAt: field("publishedAt"),
      })
      .from(changedTable(job, "release", rows))
      .where(sql`${releases.id} = item.id and ${releases.repoId} = ${job.repoId}`),
  ];
}
