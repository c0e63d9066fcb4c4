import { eq, ne, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf } from "../../../db/db.ts";
import { milestones, type Milestone } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { MilestoneFields } from "./create-milestone.ts";
import { isMilestoneWithId } from "./find-milestone.ts";

/**
 * Edits a milestone; fields that are undefined stay as they are. An edit that changes nothing has
 * no event.
 *
 * @param seenAt `updatedAt` as the caller has seen it, if the new title, description and due date
 *   may replace no later ones.
 * @throws Failure `not_found` if it was deleted meanwhile; `conflict` if it was changed since
 *   `seenAt`.
 */
export async function updateMilestone(
  ctx: Ctx,
  { row }: RepositoryContext,
  { id: milestoneId }: Milestone,
  edit: { readonly [K in keyof MilestoneFields]: MilestoneFields[K] | undefined },
  seenAt?: number,
): Promise<Milestone> {
  const { db, now } = ctx;
  const { title, description, deadlineAt, isClosed } = edit;
  const isThis = isMilestoneWithId(row, milestoneId);
  const isEdited = anyOf(
    title === undefined ? undefined : ne(milestones.title, title),
    description === undefined ? undefined : ne(milestones.description, description),
    deadlineAt === undefined ? undefined : sql`${milestones.deadlineAt} is not ${deadlineAt}`,
  );
  const isSeen = seenAt === undefined ? undefined : eq(milestones.updatedAt, seenAt);
  const isMoved = isClosed === undefined ? sql`0` : ne(milestones.isClosed, isClosed);
  const subject = { repoId: row.id, ownerId: row.ownerId, milestoneId };
  const { found, left } = await batch(db, {
    edited: db
      .update(milestones)
      .set({ title, description, deadlineAt, updatedAt: now })
      .where(allOf(isThis, isEdited, isSeen)),
    editEvent: recordIfChanged(ctx, { type: "milestone.edited", ...subject }),
    moved: db
      .update(milestones)
      .set({ isClosed, closedAt: isClosed ? now : null, updatedAt: now })
      .where(allOf(isThis, isMoved)),
    moveEvent: recordIfChanged(ctx, {
      type: isClosed ? "milestone.closed" : "milestone.reopened",
      ...subject,
    }),
    found: db.select().from(milestones).where(eq(milestones.id, milestoneId)),
    left:
      seenAt === undefined
        ? undefined
        : db.select({ id: milestones.id }).from(milestones).where(allOf(isThis, isEdited)),
  });
  const [milestone] = found;
  if (!milestone) throw notFound("milestone does not exist");
  if (left && left.length > 0)
    throw conflict("Somebody else has changed this milestone meanwhile.");
  return milestone;
}
