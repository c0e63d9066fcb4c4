import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { repositories, watches, type Repository, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";

/** Watches a repository; watching it again changes nothing. */
export async function createWatch(ctx: Ctx, user: User, repo: Repository): Promise<void> {
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    ctx.db
      // In the order in which the schema has the columns.
      .insert(watches)
      .select(
        sql`select ${user.id}, id, visibility, ${ctx.now} from ${repositories} where id = ${repoId}`,
      )
      .onConflictDoNothing(),
    recordIfChanged(ctx, { type: "watch.created", repoId, ownerId }),
  ]);
}

/** Stops watching a repository; where nobody watched, nothing changes. */
export async function deleteWatch(ctx: Ctx, user: User, repo: Repository): Promise<void> {
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    ctx.db.delete(watches).where(and(eq(watches.userId, user.id), eq(watches.repoId, repoId))),
    recordIfChanged(ctx, { type: "watch.deleted", repoId, ownerId }),
  ]);
}
