import { and, eq, inArray } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type LfsObject, lfsObjects, type Repository } from "../../../db/schema/index.ts";

/**
 * Finds the LFS objects of a repository among `oids`, keyed by id.
 *
 * SECURITY: finds objects of this repository only. An object of another repository, even of a fork,
 * must not become accessible by knowing its id.
 */
export async function findObjects(
  { db }: Ctx,
  repo: Repository,
  oids: readonly string[],
): Promise<Map<string, LfsObject>> {
  const rows = await objectsOf(db, { repoId: repo.id, oids });
  return new Map(rows.map((row) => [row.oid, row]));
}

const objectsOf = prepare((db, p: Params<{ repoId: number; oids: readonly string[] }>) =>
  db
    .select()
    .from(lfsObjects)
    .where(and(eq(lfsObjects.repoId, p.repoId), inArray(lfsObjects.oid, p.oids))),
);

/** Finds an LFS object of a repository by id. */
export async function findLfsObject(
  ctx: Ctx,
  repo: Repository,
  oid: string,
): Promise<LfsObject | undefined> {
  return (await findObjects(ctx, repo, [oid])).get(oid);
}
