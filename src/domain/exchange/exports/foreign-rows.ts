import { and, eq, exists, gt, inArray, sql } from "drizzle-orm";

import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import {
  attachments,
  codeComments,
  issueLabels,
  issues,
  labels,
  milestones,
  reactions,
  releases,
  reviews,
  timelineEntries,
} from "../../../db/schema/index.ts";
import type { ForeignCodeComment, ForeignKind } from "../../../forges/forge.ts";
import { assetPath } from "./export-files.ts";
import {
  among,
  EXPORT_PAGE_ITEMS,
  accountNameOf,
  nextOf,
  type ReadExportPage,
  selectExportedReactions,
  toReactions,
  toUser,
} from "./export-page.ts";
import { exportComments, exportIssues, exportPulls } from "./issue-rows.ts";

/**
 * Exports the labels of the repository, and those of its organization that its issues have: an
 * import makes both labels of the repository.
 */
const exportLabels: ReadExportPage<"labels"> = async ({ db }, { row }, after) => {
  const own = db.select({ id: labels.id }).from(labels).where(eq(labels.repoId, row.id));
  const used = db
    .select({ id: issueLabels.labelId })
    .from(issueLabels)
    .where(and(eq(issueLabels.labelId, labels.id), eq(issueLabels.repoId, row.id)));
  const shared = db
    .select({ id: labels.id })
    .from(labels)
    .where(and(eq(labels.orgId, row.ownerId), exists(used)));
  const rows = await db
    .select()
    .from(labels)
    .where(and(gt(labels.id, after), inArray(labels.id, own.union(shared))))
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

const exportMilestones: ReadExportPage<"milestones"> = async ({ db }, { row }, after) => {
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

/** SECURITY: without pending reviews, which only their authors see. */
const exportReviews: ReadExportPage<"reviews"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select({
      review: reviews,
      number: issues.number,
      reviewerName: accountNameOf(sql`${reviews.reviewerId}`).as("reviewer_name"),
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
  const commentIds = db
    .select({ id: codeComments.entryId })
    .from(codeComments)
    .where(among(sql`${codeComments.reviewId}`, ids));
  const { ofComments, ofReactions } = await batch(db, {
    ofComments: db
      .select({
        entry: columnsOf(timelineEntries, "t"),
        code: columnsOf(codeComments, "c"),
        posterName: accountNameOf(sql`${timelineEntries.posterId}`).as("poster_name"),
      })
      .from(codeComments)
      .innerJoin(timelineEntries, eq(timelineEntries.id, codeComments.entryId))
      .where(among(sql`${codeComments.reviewId}`, ids))
      .orderBy(timelineEntries.id),
    ofReactions: selectExportedReactions(db).where(inArray(reactions.entryId, commentIds)),
  });
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
        line: code.line,
        isOnOldSide: code.isOldSide,
        commitOid: code.commitOid,
        hunk: code.diffHunk,
        isResolved: code.resolvedAt !== null,
        reactions: toReactions(ofReactions.filter(({ entryId }) => entryId === entry.id)),
        createdAt: entry.createdAt,
        updatedAt: entry.updatedAt,
        place: {
          isOutdated: code.isOutdated,
          startLine: code.startLine,
          originalLine: code.originalLine,
          originalCommitOid: code.originalCommitOid,
          resolvedAt: code.resolvedAt,
        },
      }));
    const { state, isDismissed, isOfficial, body, commitOid, createdAt, updatedAt } = review;
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
        updatedAt,
        comments,
      },
    ];
  });
  return { items, next: nextOf(rows.map(({ review }) => review)) };
};

const exportReleases: ReadExportPage<"releases"> = async ({ db }, { row }, after) => {
  const rows = await db
    .select({
      release: releases,
      publisherName: accountNameOf(sql`${releases.publisherId}`).as("publisher_name"),
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
    publishedAt: release.publishedAt,
    assets: files
      .filter(({ releaseId }) => releaseId === release.id)
      .map(({ id, name, sizeBytes, downloadCount, createdAt }) => ({
        foreignId: String(id),
        name,
        sizeBytes,
        downloadCount,
        createdAt,
        url: assetPath(id),
      })),
  }));
  return { items, next: nextOf(rows.map(({ release }) => release)) };
};

/** How each kind of items is read, in the order in which an import takes them. */
export const EXPORTED_KINDS: { readonly [K in ForeignKind]: ReadExportPage<K> } = {
  labels: exportLabels,
  milestones: exportMilestones,
  issues: exportIssues,
  pulls: exportPulls,
  comments: exportComments,
  reviews: exportReviews,
  releases: exportReleases,
};
