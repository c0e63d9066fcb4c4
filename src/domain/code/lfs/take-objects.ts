import { and, eq, getTableColumns, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { lfsObjects, type Repository, repositories } from "../../../db/schema/index.ts";

/**
 * Gives a repository the LFS objects of another one of its fork network, as far as they are among
 * `oids`. Their files are shared. Idempotent.
 *
 * SECURITY: the caller may read the other repository, and its files point at these objects.
 */
export async function takeObjects(
  { db, now }: Ctx,
  from: Repository,
  to: Repository,
  oids: readonly string[],
): Promise<void> {
  if (oids.length === 0) return;
  const isTaken = and(
    eq(lfsObjects.repoId, from.id),
    sql`${lfsObjects.oid} in (select value from json_each(${JSON.stringify(oids)}))`,
  );
  await db.batch([
    insertSelect(
      db,
      lfsObjects,
      { ...getTableColumns(lfsObjects), repoId: to.id, createdAt: now },
      sql`from ${lfsObjects} where ${isTaken}`,
    ).onConflictDoNothing(),
    db
      .update(repositories)
      .set({
        lfsSizeBytes: sql`(
          select coalesce(sum(${lfsObjects.sizeBytes}), 0)
          from ${lfsObjects}
          where ${lfsObjects.repoId} = ${to.id}
        )`,
      })
      .where(eq(repositories.id, to.id)),
  ]);
}
