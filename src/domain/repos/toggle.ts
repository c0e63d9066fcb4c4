import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { repositories, stars, watches, type Repository, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";

/** What a user can put on a repository, and where it is kept. */
const TABLES = { star: stars, watch: watches } as const;
type Mark = keyof typeof TABLES;

/** Stars or watches a repository; doing so again changes nothing. */
export async function createToggle(
  ctx: Ctx,
  mark: Mark,
  user: User,
  repo: Repository,
): Promise<void> {
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    insertSelect(
      ctx.db,
      TABLES[mark],
      { userId: user.id, repoId, visibility: repositories.visibility, createdAt: ctx.now },
      sql`from ${repositories} where ${repositories.id} = ${repoId}`,
    ).onConflictDoNothing(),
    recordIfChanged(ctx, { type: `${mark}.created`, repoId, ownerId }),
  ]);
}

/** Takes a star or a watch back; without one nothing changes. */
export async function deleteToggle(
  ctx: Ctx,
  mark: Mark,
  user: User,
  repo: Repository,
): Promise<void> {
  const { id: repoId, ownerId } = repo;
  const marks = TABLES[mark];
  await ctx.db.batch([
    ctx.db.delete(marks).where(and(eq(marks.userId, user.id), eq(marks.repoId, repoId))),
    recordIfChanged(ctx, { type: `${mark}.deleted`, repoId, ownerId }),
  ]);
}
