import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { stars, watches, type Repository, type User } from "../../../db/schema/index.ts";

const TABLES = { star: stars, watch: watches };

type Toggle = keyof typeof TABLES;

/** Whether a user has starred a repository, or watches it. */
export async function hasToggle(
  { db }: Ctx,
  toggle: Toggle,
  user: User,
  repo: Repository,
): Promise<boolean> {
  const found = await toggleOf(db, { userId: user.id, repoId: repo.id }, { toggle });
  return found.length > 0;
}

const toggleOf = prepare(
  (db, p: Params<{ userId: number; repoId: number }>, { toggle }: { toggle: Toggle }) => {
    const table = TABLES[toggle];
    return db
      .select({ repoId: table.repoId })
      .from(table)
      .where(and(eq(table.userId, p.userId), eq(table.repoId, p.repoId)));
  },
);
