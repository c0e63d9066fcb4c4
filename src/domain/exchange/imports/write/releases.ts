import { and, eq, notExists, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { insertSelect } from "../../../../db/insert-select.ts";
import { releases } from "../../../../db/schema/index.ts";
import type { ForeignRelease } from "../../../../forges/forge.ts";
import { type ImportJob, presentUserId } from "../import-job.ts";
import { toAuthor } from "./authors.ts";
import {
  digestOf,
  field,
  freshItem,
  freshItems,
  reserveIds,
  settleItems,
  toStoredText,
  withoutRepeats,
} from "./page.ts";

const TEXT_LENGTH_MAX = 255;

/** A release as it goes into statements. */
export const toReleaseRow = (job: ImportJob, item: ForeignRelease) => {
  const { posterId, ...original } = toAuthor(job, item.publisher);
  const tagName = item.tagName.toWellFormed();
  return {
    foreignId: item.foreignId,
    revision: revisionOf(item),
    tagName,
    lowerTagName: tagName.toLowerCase(),
    target: item.target.slice(0, TEXT_LENGTH_MAX).toWellFormed(),
    title: item.title.slice(0, TEXT_LENGTH_MAX).toWellFormed(),
    body: toStoredText(job, item.body, `the release ${item.tagName}`),
    isDraft: item.isDraft,
    isPrerelease: item.isPrerelease,
    publisherId: posterId,
    ...original,
    createdAt: item.createdAt,
    publishedAt: item.publishedAt ?? (item.isDraft ? null : item.createdAt),
  };
};
export type ReleaseRow = ReturnType<typeof toReleaseRow>;

/** A digest, since forges have no time of a release's last change. */
const revisionOf = ({ title, body, isDraft, isPrerelease }: ForeignRelease): string =>
  digestOf(`${title}\0${body}\0${isDraft}\0${isPrerelease}`);

/** The statements that take releases which were not taken before, of tags that have none. */
export function releaseStatements(
  job: ImportJob,
  items: readonly ReleaseRow[],
): BatchItem<"sqlite">[] {
  const byTag = new Map(items.map((row) => [row.lowerTagName, row]));
  const rows = withoutRepeats([...byTag.values()]);
  if (rows.length === 0) return [];
  const { ctx, repoId } = job;
  const isTaken = notExists(
    ctx.db
      .select({ id: releases.id })
      .from(releases)
      .where(and(eq(releases.repoId, repoId), eq(releases.lowerTagName, field("lowerTagName")))),
  );
  return [
    reserveIds(job, "release", releases, rows, { isTaken }),
    insertSelect(
      ctx.db,
      releases,
      {
        id: freshItem.localId,
        repoId,
        tagName: field("tagName"),
        lowerTagName: field("lowerTagName"),
        target: field("target"),
        title: field("title"),
        body: field("body"),
        isDraft: field("isDraft"),
        isPrerelease: field("isPrerelease"),
        publisherId: presentUserId(field("publisherId")),
        originalAuthor: field("originalAuthor"),
        originalAuthorId: field("originalAuthorId"),
        createdAt: field("createdAt"),
        publishedAt: field("publishedAt"),
      },
      sql`${freshItems(job, "release", rows)} order by item.key`,
    ),
    settleItems(job, "release", rows),
  ];
}
