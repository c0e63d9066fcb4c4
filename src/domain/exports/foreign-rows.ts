import { eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import {
  attachments,
  codeComments,
  issueAssignees,
  issueLabels,
  issues,
  labels,
  milestones,
  pulls,
  reactions,
  releases,
  reviews,
  timelineEntries,
  users,
} from "../../db/schema/index.ts";
import type {
  ForeignCodeComment,
  ForeignComment,
  ForeignIssue,
  ForeignItems,
  ForeignKind,
  ForeignPull,
  ForeignReaction,
  ForeignUser,
} from "../../forges/forge.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/** Items of one page, and so of one file of an export. */
const EXPORT_PAGE_ITEMS = 100;

/** A page of items, and the id behind which the next one begins; undefined after the last page. */
interface ExportPage<T> {
  readonly items: readonly T[];
  readonly next: number | undefined;
}

/** Reads the page of a kind that begins behind an id. Cost: one batch, and for some kinds another one. */
export type ReadExportPage<K extends ForeignKind> = (
  ctx: Ctx,
  repo: RepositoryContext,
  after: number,
) => Promise<ExportPage<ForeignItems[K]>>;

/** What a row says of its author: an account here, or the one from which it once came. */
interface Authored {
  readonly posterId: number | null;
  readonly posterName: string | null;
  readonly originalAuthor: string;
  readonly originalAuthorId: number;
}

const toUser = (row: Authored): ForeignUser =>
  row.posterId === null
    ? { id: row.originalAuthorId, name: row.originalAuthor || "Ghost" }
    : { id: row.posterId, name: row.posterName ?? "Ghost" };

/** The ids as a JSON list, for one bound value. */
const among = (column: SQL | typeof issues.id, ids: readonly number[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(ids)}))`;

const nextOf = (rows: readonly { id: number }[]): number | undefined =>
  rows.length < EXPORT_PAGE_ITEMS ? undefined : rows.at(-1)?.id;

const nameOf = (userId: SQL | typeof issues.posterId) =>
  sql<string | null>`(select u.name from ${users} u where u.id = ${userId})`;

const readLabels: ReadExportPage<"labels"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select()
    .from(labels)
    .where(sql`${labels.repoId} = ${row.id} and ${labels.id} > ${after}`)
    .orderBy(labels.id)
    .limit(EXPORT_PAGE_ITEMS);
  return {
    items: rows.map((label) => ({
      foreignId: String(label.id),
      name: label.name,
      color: label.color,
      description: label.description,
      isExclusive: label.isExclusive,
      isArchived: label.archivedAt !== null,
    })),
    next: nextOf(rows),
  };
};

const readMilestones: ReadExportPage<"milestones"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select()
    .from(milestones)
    .where(sql`${milestones.repoId} = ${row.id} and ${milestones.id} > ${after}`)
    .orderBy(milestones.id)
    .limit(EXPORT_PAGE_ITEMS);
  const items = rows.map(({ id, title, description, deadlineAt, isClosed, closedAt, ...at }) => ({
    foreignId: String(id),
    title,
    description,
    deadlineAt,
    isClosed,
    closedAt,
    createdAt: at.createdAt,
    updatedAt: at.updatedAt,
  }));
  return { items, next: nextOf(rows) };
};

/** Issues, or pull requests, by their numbers. */
async function readIssueRows(
  { db }: Ctx,
  { row }: RepositoryContext,
  isPull: boolean,
  after: number,
) {
  const rows = await db
    .select({ issue: issues, posterName: nameOf(issues.posterId).as("poster_name") })
    .from(issues)
    .where(
      sql`${issues.repoId} = ${row.id}
        and ${issues.isPull} = ${isPull}
        and ${issues.id} > ${after}`,
    )
    .orderBy(issues.id)
    .limit(EXPORT_PAGE_ITEMS);
  const ids = rows.map(({ issue }) => issue.id);
  const isOfPage = (column: typeof issueLabels.issueId) => among(sql`${column}`, ids);
  const [ofLabels, ofAssignees, ofReactions, ofPulls] = await db.batch([
    db.select().from(issueLabels).where(isOfPage(issueLabels.issueId)),
    db
      .select({ issueId: issueAssignees.issueId, id: users.id, name: users.name })
      .from(issueAssignees)
      .innerJoin(users, eq(users.id, issueAssignees.userId))
      .where(among(sql`${issueAssignees.issueId}`, ids)),
    selectReactions(db).where(
      sql`${reactions.entryId} is null and ${among(sql`${reactions.issueId}`, ids)}`,
    ),
    db
      .select({
        pull: pulls,
        headRepository: sql<string | null>`(
          select owner_lower_name || '/' || lower_name
          from repositories
          where id = ${pulls.headRepoId}
        )`.as("head_repository"),
        mergerName: nameOf(sql`${pulls.mergerId}`).as("merger_name"),
      })
      .from(pulls)
      .where(among(sql`${pulls.issueId}`, ids)),
  ]);
  return { rows, ofLabels, ofAssignees, ofReactions, ofPulls };
}

type IssueRows = Awaited<ReturnType<typeof readIssueRows>>;

function toIssueFields(
  { issue, posterName }: IssueRows["rows"][number],
  { ofLabels, ofAssignees, ofReactions }: IssueRows,
): Omit<ForeignIssue, "kind"> {
  return {
    foreignId: String(issue.id),
    number: issue.number,
    poster: toUser({ ...issue, posterName }),
    title: issue.title,
    body: issue.body,
    ref: issue.ref,
    labelIds: ofLabels
      .filter(({ issueId }) => issueId === issue.id)
      .map(({ labelId }) => String(labelId)),
    milestoneId: issue.milestoneId === null ? null : String(issue.milestoneId),
    assignees: ofAssignees
      .filter(({ issueId }) => issueId === issue.id)
      .map(({ id, name }) => ({ id, name })),
    reactions: toReactions(ofReactions.filter(({ issueId }) => issueId === issue.id)),
    isLocked: issue.isLocked,
    isClosed: issue.isClosed,
    closedAt: issue.closedAt,
    deadlineAt: issue.deadlineAt,
    createdAt: issue.createdAt,
    updatedAt: issue.updatedAt,
  };
}

const readIssues: ReadExportPage<"issues"> = async (ctx, repo, after) => {
  const page = await readIssueRows(ctx, repo, false, after);
  const items = page.rows.map((row): ForeignIssue => ({
    kind: "issue",
    ...toIssueFields(row, page),
  }));
  return { items, next: nextOf(page.rows.map(({ issue }) => issue)) };
};

const readPulls: ReadExportPage<"pulls"> = async (ctx, repo, after) => {
  const page = await readIssueRows(ctx, repo, true, after);
  const ofPulls = new Map(page.ofPulls.map((each) => [each.pull.issueId, each]));
  const repository = `${repo.owner.lowerName}/${repo.row.lowerName}`;
  const items = page.rows.flatMap((row): ForeignPull[] => {
    const found = ofPulls.get(row.issue.id);
    if (!found) return [];
    const { pull, headRepository, mergerName } = found;
    return [
      {
        kind: "pull",
        ...toIssueFields(row, page),
        head: { branch: pull.headBranch, oid: pull.headOid, repository: headRepository ?? "" },
        base: { branch: pull.baseBranch, oid: pull.mergedBaseOid, repository },
        headRef: `refs/pull/${row.issue.number}/head`,
        mergeBaseOid: pull.mergeBaseOid,
        allowMaintainerEdit: pull.allowMaintainerEdit,
        mergedAt: pull.mergedAt,
        merger: pull.mergerId === null ? null : { id: pull.mergerId, name: mergerName ?? "Ghost" },
        mergeCommitOid: pull.mergeCommitOid,
      },
    ];
  });
  return { items, next: nextOf(page.rows.map(({ issue }) => issue)) };
};

const readComments: ReadExportPage<"comments"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select({
      entry: timelineEntries,
      number: issues.number,
      posterName: nameOf(sql`${timelineEntries.posterId}`).as("poster_name"),
    })
    .from(timelineEntries)
    .innerJoin(issues, eq(issues.id, timelineEntries.issueId))
    .where(
      sql`${timelineEntries.repoId} = ${row.id}
        and ${timelineEntries.kind} = 'comment'
        and ${timelineEntries.id} > ${after}`,
    )
    .orderBy(timelineEntries.id)
    .limit(EXPORT_PAGE_ITEMS);
  const ids = rows.map(({ entry }) => entry.id);
  const ofReactions = await selectReactions(db).where(among(sql`${reactions.entryId}`, ids));
  const items = rows.map(({ entry, number, posterName }): ForeignComment => ({
    kind: "comment",
    foreignId: String(entry.id),
    number,
    poster: toUser({ ...entry, posterName }),
    body: entry.body,
    reactions: toReactions(ofReactions.filter(({ entryId }) => entryId === entry.id)),
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
  }));
  return { items, next: nextOf(rows.map(({ entry }) => entry)) };
};

/** SECURITY: without pending reviews, which only their authors see. */
const readReviews: ReadExportPage<"reviews"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select({
      review: reviews,
      number: issues.number,
      reviewerName: nameOf(sql`${reviews.reviewerId}`).as("reviewer_name"),
    })
    .from(reviews)
    .innerJoin(issues, eq(issues.id, reviews.issueId))
    .where(
      sql`${reviews.repoId} = ${row.id}
        and ${reviews.state} <> 'pending'
        and ${reviews.id} > ${after}`,
    )
    .orderBy(reviews.id)
    .limit(EXPORT_PAGE_ITEMS);
  const ids = rows.map(({ review }) => review.id);
  const [ofComments, ofReactions] = await db.batch([
    db
      .select({
        entry: columnsOf(timelineEntries, "t"),
        code: columnsOf(codeComments, "c"),
        posterName: nameOf(sql`${timelineEntries.posterId}`).as("poster_name"),
      })
      .from(codeComments)
      .innerJoin(timelineEntries, eq(timelineEntries.id, codeComments.entryId))
      .where(among(sql`${codeComments.reviewId}`, ids))
      .orderBy(timelineEntries.id),
    selectReactions(db).where(
      sql`${reactions.entryId} in (
        select entry_id from ${codeComments} where ${among(sql`review_id`, ids)}
      )`,
    ),
  ]);
  const items = rows.flatMap(({ review, number, reviewerName }) => {
    // A request of a team is nobody's review.
    if (review.teamId !== null || review.state === "pending") return [];
    const reviewer = toUser({ ...review, posterId: review.reviewerId, posterName: reviewerName });
    const comments = ofComments
      .filter(({ code }) => code.reviewId === review.id)
      .map(({ entry, code, posterName }): ForeignCodeComment => ({
        foreignId: String(entry.id),
        answersId: code.rootId === null ? "" : String(code.rootId),
        poster: toUser({ ...entry, posterName }),
        body: entry.body,
        path: code.path,
        line: code.isOutdated ? 0 : code.line,
        isOnOldSide: code.isOldSide,
        commitOid: code.commitOid,
        hunk: code.diffHunk,
        isResolved: code.resolvedAt !== null,
        reactions: toReactions(ofReactions.filter(({ entryId }) => entryId === entry.id)),
        createdAt: entry.createdAt,
        updatedAt: entry.updatedAt,
      }));
    const { state, isDismissed, isOfficial, body, commitOid, createdAt } = review;
    const foreignId = String(review.id);
    return [
      {
        foreignId,
        number,
        reviewer,
        state,
        isDismissed,
        isOfficial,
        body,
        commitOid,
        createdAt,
        comments,
      },
    ];
  });
  return { items, next: nextOf(rows.map(({ review }) => review)) };
};

const readReleases: ReadExportPage<"releases"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select({
      release: releases,
      publisherName: nameOf(sql`${releases.publisherId}`).as("publisher_name"),
    })
    .from(releases)
    .where(sql`${releases.repoId} = ${row.id} and ${releases.id} > ${after}`)
    .orderBy(releases.id)
    .limit(EXPORT_PAGE_ITEMS);
  const ids = rows.map(({ release }) => release.id);
  const files = await db
    .select()
    .from(attachments)
    .where(among(sql`${attachments.releaseId}`, ids))
    .orderBy(attachments.id);
  const items = rows.map(({ release, publisherName }) => ({
    foreignId: String(release.id),
    tagName: release.tagName,
    target: release.target,
    title: release.title,
    body: release.body,
    isDraft: release.isDraft,
    isPrerelease: release.isPrerelease,
    publisher: toUser({ ...release, posterId: release.publisherId, posterName: publisherName }),
    createdAt: release.createdAt,
    assets: files
      .filter(({ releaseId }) => releaseId === release.id)
      .map(({ id, uuid, name, sizeBytes, downloadCount, createdAt }) => ({
        foreignId: String(id),
        name,
        sizeBytes,
        downloadCount,
        createdAt,
        url: assetPath(uuid),
      })),
  }));
  return { items, next: nextOf(rows.map(({ release }) => release)) };
};

/** The file of an export that has the bytes of a release's file. */
export const assetPath = (uuid: string): string => `assets/${uuid}`;

const selectReactions = (db: Ctx["db"]) =>
  db
    .select({
      issueId: reactions.issueId,
      entryId: reactions.entryId,
      content: reactions.content,
      userId: users.id,
      name: users.name,
    })
    .from(reactions)
    .innerJoin(users, eq(users.id, reactions.userId))
    .orderBy(reactions.id)
    .$dynamic();

const toReactions = (
  rows: readonly { content: string; userId: number; name: string }[],
): ForeignReaction[] =>
  rows.map(({ content, userId, name }) => ({ content, user: { id: userId, name } }));

/** How each kind of items is read, in the order in which an import takes them. */
export const EXPORTED_KINDS: { readonly [K in ForeignKind]: ReadExportPage<K> } = {
  labels: readLabels,
  milestones: readMilestones,
  issues: readIssues,
  pulls: readPulls,
  comments: readComments,
  reviews: readReviews,
  releases: readReleases,
};
