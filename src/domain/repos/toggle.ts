import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { repositories, stars, watches, type Repository, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";

/** The toggles of a user on a repository, with their tables. */
const TABLES = { star: stars, watch: watches } as const;
type Toggle = keyof typeof TABLES;

/** Stars or watches a repository. Idempotent. */
export async function createToggle(
  ctx: Ctx,
  toggle: Toggle,
  user: User,
  repo: Repository,
): Promise<void> {
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    insertSelect(
      ctx.db,
      TABLES[toggle],
      { userId: user.id, repoId, visibility: repositories.visibility, createdAt: ctx.now },
      sql`from ${repositories} where ${repositories.id} = ${repoId}`,
    ).onConflictDoNothing(),
    recordIfChanged(ctx, { type: `${toggle}.created`, repoId, ownerId }),
  ]);
}

/** Removes a star or a watch. Idempotent. */
export async function deleteToggle(
  ctx: Ctx,
  toggle: Toggle,
  user: User,
  repo: Repository,
): Promise<void> {
  const { id: repoId, ownerId } = repo;
  const table = TABLES[toggle];
  await ctx.db.batch([
    ctx.db.delete(table).where(and(eq(table.userId, user.id), eq(table.repoId, repoId))),
    recordIfChanged(ctx, { type: `${toggle}.deleted`, repoId, ownerId }),
  ]);
}
