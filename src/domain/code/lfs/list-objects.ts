import { asc, count, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { type LfsObject, lfsObjects, type Repository } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** Lists the LFS objects of a repository, by their ids. */
export async function listLfsObjects(
  { db }: Ctx,
  { id: repoId }: Repository,
  { size, offset }: Slice,
): Promise<Listed<LfsObject>> {
  return toListedPage(await batch(db, objectPage(db, { repoId, size, offset })));
}

const objectPage = prepareAll((db, p: Params<Slice & { repoId: number }>) => {
  const isListed = eq(lfsObjects.repoId, p.repoId);
  return {
    rows: db
      .select()
      .from(lfsObjects)
      .where(isListed)
      .orderBy(asc(lfsObjects.oid))
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: count().as("total") })
      .from(lfsObjects)
      .where(isListed),
  };
});
