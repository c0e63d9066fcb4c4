import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type LfsObject, lfsObjects, type Repository } from "../../db/schema/index.ts";

/**
 * Those of `oids` that a repository has, by their ids.
 *
 * SECURITY: of this repository alone. That another has an object, a fork too, gives nothing here.
 */
export async function findObjects(
  { db }: Ctx,
  repo: Repository,
  oids: readonly string[],
): Promise<Map<string, LfsObject>> {
  const isAsked = sql`${lfsObjects.oid} in (select value from json_each(${JSON.stringify(oids)}))`;
  const rows = await db
    .select()
    .from(lfsObjects)
    .where(and(eq(lfsObjects.repoId, repo.id), isAsked));
  return new Map(rows.map((row) => [row.oid, row]));
}

/** The object of an id, if the repository has it. */
export async function findLfsObject(
  ctx: Ctx,
  repo: Repository,
  oid: string,
): Promise<LfsObject | undefined> {
  return (await findObjects(ctx, repo, [oid])).get(oid);
}
