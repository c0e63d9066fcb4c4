import { sql } from "drizzle-orm";

import { insertSelect } from "../../../db/insert-select.ts";
import { labels, milestones } from "../../../db/schema/index.ts";
import type { ForeignLabel, ForeignMilestone } from "../../../forges/forge.ts";
import type { ImportJob } from "../import-job.ts";
import {
  field,
  freshItems,
  reserveIds,
  settleItems,
  toStoredText,
  withoutRepeats,
} from "./page.ts";

const NAME_LENGTH_MAX = 50;
const TITLE_LENGTH_MAX = 255;

/** The statements that take labels. One that the repository has by its name is that one. */
export function takeLabels(job: ImportJob, items: readonly ForeignLabel[]) {
  const { ctx, repoId } = job;
  const rows = withoutRepeats(items).map((item) => ({
    foreignId: item.foreignId,
    revision: "",
    name: item.name.slice(0, NAME_LENGTH_MAX).toWellFormed() || "label",
    color: /^[0-9a-f]{6}$/i.test(item.color) ? item.color.toLowerCase() : "ededed",
    description: toStoredText(job, item.description, `the label ${item.name}`),
    isExclusive: item.isExclusive,
    archivedAt: item.isArchived ? ctx.now : null,
  }));
  if (rows.length === 0) return [];
  const present = sql`(
    select min(l.id) from labels l where l.repo_id = ${repoId} and l.name = ${field("name")}
  )`;
  return [
    reserveIds(job, "label", "labels", rows, { present }),
    insertSelect(
      ctx.db,
      labels,
      {
        id: sql`fresh.local_id`,
        repoId,
        name: field("name"),
        color: field("color"),
        description: field("description"),
        isExclusive: field("isExclusive"),
        archivedAt: field("archivedAt"),
        createdAt: ctx.now,
        updatedAt: ctx.now,
      },
      sql`
        ${freshItems(job, "label", rows)}
        where not exists (select 1 from labels l where l.id = fresh.local_id)
        order by item.key`,
    ),
    settleItems(job, "label", rows),
  ];
}

/** The statements that take milestones. */
export function takeMilestones(job: ImportJob, items: readonly ForeignMilestone[]) {
  const { ctx, repoId } = job;
  const rows = withoutRepeats(items).map((item) => ({
    foreignId: item.foreignId,
    revision: String(item.updatedAt),
    title: item.title.slice(0, TITLE_LENGTH_MAX).toWellFormed() || "milestone",
    description: toStoredText(job, item.description, `the milestone ${item.title}`),
    isClosed: item.isClosed,
    closedAt: item.isClosed ? (item.closedAt ?? item.updatedAt) : null,
    deadlineAt: item.deadlineAt,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
  }));
  if (rows.length === 0) return [];
  return [
    reserveIds(job, "milestone", "milestones", rows),
    insertSelect(
      ctx.db,
      milestones,
      {
        id: sql`fresh.local_id`,
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
