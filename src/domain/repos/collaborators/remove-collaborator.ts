import { eq, sql } from "drizzle-orm";

import { deleteCollaborator } from "../../../auth/access/collaborators.ts";
import { deleteLostAssignments } from "../../../auth/access/lost-assignments.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { deleteOutsiderToggles } from "../repository/outsider-toggles.ts";

/**
 * Removes a collaborator from a repository, with their star, watch and assignments if they can't
 * see it any more. Idempotent.
 */
export async function removeCollaborator(
  ctx: Ctx,
  { row }: RepositoryContext,
  user: User,
): Promise<void> {
  const subject = { repoId: row.id, ownerId: row.ownerId, userId: user.id };
  await ctx.db.batch([
    deleteCollaborator(ctx.db, row.id, user.id),
    recordIfChanged(ctx, { type: "collaborator.removed", ...subject }),
    recordAuditIfChanged(ctx, { kind: "collaborator.removed", ...subject }),
    ...deleteOutsiderToggles(ctx, row, (userId) => eq(userId, user.id)),
    deleteLostAssignments(ctx.db, {
      userIds: sql`(${user.id})`,
      ownerId: row.ownerId,
      repoId: row.id,
    }),
  ]);
}
