import { and, eq, min, notExists, sql } from "drizzle-orm";

import { insertSelect } from "../../../../db/insert-select.ts";
import { labels, milestones } from "../../../../db/schema/index.ts";
import type { ForeignLabel, ForeignMilestone } from "../../../../forges/forge.ts";
import type { ImportJob } from "../import-job.ts";
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

const NAME_LENGTH_MAX = 50;
const TITLE_LENGTH_MAX = 255;

/** The row of a label for the statements. Its revision is a digest, since forges have no time. */
export const toLabelRow = (job: ImportJob, item: ForeignLabel) => {
  const fields = {
    name: item.name.slice(0, NAME_LENGTH_MAX).toWellFormed() || "label",
    color: /^[0-9a-f]{6}$/i.test(item.color) ? item.color.toLowerCase() : "ededed",
    description: toStoredText(job, item.description, `the label ${item.name}`),
    isExclusive: item.isExclusive,
    isArchived: item.isArchived,
  };
  return { foreignId: item.foreignId, revision: digestOf(JSON.stringify(fields)), ...fields };
};
export type LabelRow = ReturnType<typeof toLabelRow>;

/** The statements that take labels. One that the repository has by its name is that one. */
export function takeLabels(job: ImportJob, items: readonly LabelRow[]) {
  const { ctx, repoId } = job;
  const rows = withoutRepeats(items);
  if (rows.length === 0) return [];
  const present = sql`${ctx.db
    .select({ id: min(labels.id) })
    .from(labels)
    .where(and(eq(labels.repoId, repoId), eq(labels.name, field("name"))))}`;
  const isStored = ctx.db
    .select({ id: labels.id })
    .from(labels)
    .where(eq(labels.id, freshItem.localId));
  return [
    reserveIds(job, "label", labels, rows, { present }),
    insertSelect(
      ctx.db,
      labels,
      {
        id: freshItem.localId,
        repoId,
        name: field("name"),
        color: field("color"),
        description: field("description"),
        isExclusive: field("isExclusive"),
        archivedAt: sql`iif(${field("isArchived")}, ${ctx.now}, null)`,
        createdAt: ctx.now,
        updatedAt: ctx.now,
      },
      sql`
        ${freshItems(job, "label", rows)}
        where ${notExists(isStored)}
        order by item.key`,
    ),
    settleItems(job, "label", rows),
  ];
}

/**
 * The row of a milestone for the statements. Its revision does not include its times, since Gogs
 * has none.
 */
export const toMilestoneRow = (job: ImportJob, item: ForeignMilestone) => {
  const { title, description, isClosed, closedAt, deadlineAt } = item;
  return {
    foreignId: item.foreignId,
    revision: digestOf(JSON.stringify([title, description, isClosed, closedAt, deadlineAt])),
    title: item.title.slice(0, TITLE_LENGTH_MAX).toWellFormed() || "milestone",
    description: toStoredText(job, item.description, `the milestone ${item.title}`),
    isClosed: item.isClosed,
    closedAt: item.isClosed ? (item.closedAt ?? item.updatedAt) : null,
    deadlineAt: item.deadlineAt,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
  };
};
export type MilestoneRow = ReturnType<typeof toMilestoneRow>;

/** The statements that take milestones. */
export function takeMilestones(job: ImportJob, items: readonly MilestoneRow[]) {
  const { ctx, repoId } = job;
  const rows = withoutRepeats(items);
  if (rows.length === 0) return [];
  return [
    reserveIds(job, "milestone", milestones, rows),
    insertSelect(
      ctx.db,
      milestones,
      {
        id: freshItem.localId,
        repoId,
        title: field("title"),
        description: field("description"),
        isClosed: field("isClosed"),
        closedAt: field("closedAt"),
        deadlineAt: field("deadlineAt"),
        createdAt: field("createdAt"),
        updatedAt: field("updatedAt"),
      },
      sql`${freshItems(job, "milestone", rows)} order by item.key`,
    ),
    settleItems(job, "milestone", rows),
  ];
}
