import { and, eq, sql } from "drizzle-orm";

import { asBlocked, isBlockedBy, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { repositories, stars, watches, type Repository, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";

/** The toggles of a user on a repository, with their tables. */
const TABLES = { star: stars, watch: watches } as const;
type Toggle = keyof typeof TABLES;

/**
 * Stars or watches a repository. Idempotent.
 *
 * @throws Failure `forbidden` where the repository's owner blocks the user.
 */
export async function createToggle(
  ctx: Ctx,
  toggle: Toggle,
  user: User,
  repo: Repository,
): Promise<void> {
  const { id: repoId, ownerId } = repo;
  const isBlocked = isBlockedBy(sql`${user.id}`, sql`${repositories.ownerId}`);
  const userId = unlessBlocked(isBlocked, user.id);
  const columns = { userId, repoId, visibility: repositories.visibility, createdAt: ctx.now };
  try {
    await ctx.db.batch([
      insertSelect(
        ctx.db,
        TABLES[toggle],
        columns,
        sql`from ${repositories} where ${repositories.id} = ${repoId}`,
      ).onConflictDoNothing(),
      recordIfChanged(ctx, { type: `${toggle}.created`, repoId, ownerId }),
    ]);
  } catch (error) {
    throw asBlocked(error, `${toggle === "star" ? "stars" : "watches"}.user_id`);
  }
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
