import { eq, sql } from "drizzle-orm";

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
  { row }: RepositoryContext,
  fields: MilestoneFields,
): Promise<Milestone> {
  const { db, now } = ctx;
  const [[created]] = await db.batch([
    insertMilestone(
      db,
      boundRow(milestones, {
        ...fields,
        repoId: row.id,
        closedAt: fields.isClosed ? now : null,
        createdAt: now,
        updatedAt: now,
      }),
    ),
    recordIfChanged(ctx, {
      type: "milestone.created",
      repoId: row.id,
      ownerId: row.ownerId,
      milestoneId: LAST_INSERT_ID,
    }),
  ]);
  if (!created) throw notFound();
  return created;
}

const insertMilestone = prepare((db, row: Params<BoundRow<typeof milestones.$inferInsert>>) =>
  insertSelect(
    db,
    milestones,
    { ...row, repoId: sql`${repositories.id}` },
    sql`from ${repositories} where ${eq(repositories.id, row.repoId)}`,
  ).returning(),
);
