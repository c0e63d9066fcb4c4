import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { LAST_INSERT_ID } from "../../../db/json-of.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { milestones, repositories, type Milestone } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** The fields of a milestone. */
export interface MilestoneFields {
  readonly title: string;
  readonly description: string;
  readonly isClosed: boolean;
  readonly deadlineAt: number | null;
}

/**
 * Creates a milestone. Others may have the same title, as in Gitea.
 *
 * @throws Failure `not_found` if the repository was deleted meanwhile.
 */
export async function createMilestone(
  ctx: Ctx,
  repo: RepositoryContext,
  fields: MilestoneFields,
): Promise<Milestone> {
  const created = await insertWith(ctx, repo, fields, false);
  if (!created) throw notFound();
  return created;
}

/**
 * Creates a milestone, unless the repository has one that is the same in all fields: a form may be
 * sent again after its answer was lost.
 */
export async function createMilestoneOnce(
  ctx: Ctx,
  repo: RepositoryContext,
  fields: MilestoneFields,
): Promise<void> {
  await insertWith(ctx, repo, fields, true);
}

async function insertWith(
  ctx: Ctx,
  { row }: RepositoryContext,
  fields: MilestoneFields,
  isOnce: boolean,
): Promise<Milestone | undefined> {
  const { db, now } = ctx;
  const times = { closedAt: fields.isClosed ? now : null, createdAt: now, updatedAt: now };
  const bound = boundRow(milestones, { ...fields, ...times, repoId: row.id });
  const [[created]] = await db.batch([
    insertMilestone(db, { row: bound, isOnce }),
    recordIfChanged(ctx, {
      type: "milestone.created",
      repoId: row.id,
      ownerId: row.ownerId,
      milestoneId: LAST_INSERT_ID,
    }),
  ]);
  return created;
}

interface NewMilestone {
  readonly row: BoundRow<typeof milestones.$inferInsert>;
  readonly isOnce: boolean;
}

const insertMilestone = prepare((db, { row, isOnce }: Params<NewMilestone>) => {
  const isSame = and(
    eq(milestones.repoId, row.repoId),
    eq(milestones.title, row.title),
    sql`${milestones.description} = ${row.description}`,
    sql`${milestones.deadlineAt} is ${row.deadlineAt}`,
    sql`${milestones.isClosed} = ${row.isClosed}`,
  );
  const isNew = isOnce ? sql`not exists (select 1 from ${milestones} where ${isSame})` : undefined;
  return insertSelect(
    db,
    milestones,
    { ...row, repoId: sql`${repositories.id}` },
    sql`from ${repositories} where ${and(eq(repositories.id, row.repoId), isNew)}`,
  ).returning();
});
