import { eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { openReceiver } from "../../events/webhooks/payloads/open-receiver.ts";
import { OWNER_PERMISSION, repositories } from "../../db/schema/index.ts";
import { toRepositoryPayload } from "../../events/webhooks/payloads/repository-payload.ts";
import { recordIfChanged } from "../../events/record.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/**
 * Deletes a repository with all that belongs to it alone: stars, watches, roles, deploy keys,
 * redirects, its part in bound tokens. Forks stay and lose their parent.
 *
 * Foreign keys carry it out, so that nothing can be forgotten and a repository that takes the name
 * later finds nothing of this one. Refs and packs are removed by a job.
 */
export async function deleteRepository(ctx: Ctx, repo: RepositoryContext): Promise<void> {
  const { row, owner } = repo;
  const viewer = openReceiver(ctx);
  // SECURITY: as hooks are shown everything: the row itself holds what nobody is told.
  const where: RepositoryContext = { row, owner, permission: OWNER_PERMISSION };
  await ctx.db.batch([
    ctx.db.delete(repositories).where(eq(repositories.id, row.id)),
    recordIfChanged(ctx, {
      type: "repository.deleted",
      repoId: row.id,
      ownerId: owner.id,
      name: row.name,
      lastPayload: toRepositoryPayload({ repo: where, sender: ctx.actor.user, viewer }, "deleted"),
    }),
  ]);
  // A trigger has noted what is left of it; if this message is lost, the schedule sends another.
  ctx.defer(ctx.git.maintainLater(row));
}
