import { eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { repositories } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";

/**
 * Deletes a repository with all that belongs to it alone: stars, watches, roles, deploy keys,
 * redirects, its part in bound tokens. Forks stay and lose their parent.
 *
 * Foreign keys carry it out, so that nothing can be forgotten and a repository that takes the name
 * later finds nothing of this one. Refs and packs are removed by a job.
 */
export async function deleteRepository(ctx: Ctx, { repo, owner }: RepositoryEntry): Promise<void> {
  await ctx.db.batch([
    ctx.db.delete(repositories).where(eq(repositories.id, repo.id)),
    recordIfChanged(ctx, {
      type: "repository.deleted",
      repoId: repo.id,
      ownerId: owner.id,
      name: repo.name,
    }),
  ]);
  // A trigger has noted what is left of it; if this message is lost, the schedule sends another.
  ctx.defer(ctx.git.tendLater(repo));
}
