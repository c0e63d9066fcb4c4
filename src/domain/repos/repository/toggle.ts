import { and, eq, sql } from "drizzle-orm";

import { asBlocked, isBlockedBy, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  repositories,
  stars,
  watches,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";

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
  try {
    await ctx.db.batch([
      insertToggle(ctx.db, { userId: user.id, repoId, now: ctx.now }, { toggle }),
      recordIfChanged(ctx, { type: `${toggle}.created`, repoId, ownerId }),
    ]);
  } catch (error) {
    throw asBlocked(error, `${toggle === "star" ? "stars" : "watches"}.user_id`);
  }
}

interface NewToggle {
  readonly userId: number;
  readonly repoId: number;
  readonly now: number;
}

const insertToggle = prepare(
  (db, { userId, repoId, now }: Params<NewToggle>, { toggle }: { toggle: Toggle }) => {
    const isBlocked = isBlockedBy(userId, sql`${repositories.ownerId}`);
    return insertSelect(
      db,
      TABLES[toggle],
      {
        userId: unlessBlocked(isBlocked, userId),
        repoId,
        visibility: repositories.visibility,
        createdAt: now,
      },
      sql`from ${repositories} where ${repositories.id} = ${repoId}`,
    ).onConflictDoNothing();
  },
);

/** Removes a star or a watch. Idempotent. */
export async function deleteToggle(
  ctx: Ctx,
  toggle: Toggle,
  user: User,
  repo: Repository,
): Promise<void> {
  const { id: repoId, ownerId } = repo;
  await ctx.db.batch([
    removeToggle(ctx.db, { userId: user.id, repoId }, { toggle }),
    recordIfChanged(ctx, { type: `${toggle}.deleted`, repoId, ownerId }),
  ]);
}

const removeToggle = prepare(
  (db, p: Params<Omit<NewToggle, "now">>, { toggle }: { toggle: Toggle }) => {
    const table = TABLES[toggle];
    return db.delete(table).where(and(eq(table.userId, p.userId), eq(table.repoId, p.repoId)));
  },
);
