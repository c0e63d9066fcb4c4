import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { repositories, stars, type Repository, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";

/** Stars a repository; starring it again changes nothing. */
export async function createStar(ctx: Ctx, user: User, repo: Repository): Promise<void> {
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    ctx.db
      // In the order in which the schema has the columns.
      .insert(stars)
      .select(
        sql`select ${user.id}, id, visibility, ${ctx.now} from ${repositories} where id = ${repoId}`,
      )
      .onConflictDoNothing(),
    recordIfChanged(ctx, { type: "star.created", repoId, ownerId }),
  ]);
}

/** Takes a star back; without one nothing changes. */
export async function deleteStar(ctx: Ctx, user: User, repo: Repository): Promise<void> {
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    ctx.db.delete(stars).where(and(eq(stars.userId, user.id), eq(stars.repoId, repoId))),
    recordIfChanged(ctx, { type: "star.deleted", repoId, ownerId }),
  ]);
}
