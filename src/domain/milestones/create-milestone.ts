import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { milestones, repositories, type Milestone } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

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
    insertSelect(
      db,
      milestones,
      {
        ...fields,
        repoId: sql`${repositories.id}`,
        closedAt: fields.isClosed ? now : null,
        createdAt: now,
        updatedAt: now,
      },
      sql`from ${repositories} where ${eq(repositories.id, row.id)}`,
    ).returning(),
    recordIfChanged(ctx, {
      type: "milestone.created",
      repoId: row.id,
      ownerId: row.ownerId,
      milestoneId: sql`last_insert_rowid()`,
    }),
  ]);
  if (!created) throw notFound();
  return created;
}
