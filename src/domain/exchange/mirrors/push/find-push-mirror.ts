import { and, asc, count, eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { type Params, prepare, prepareAll } from "../../../../db/prepared.ts";
import { type PushMirror, pushMirrors } from "../../../../db/schema/index.ts";
import { notFound } from "../../../../lib/failure.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { type Listed, type Slice, toListedPage } from "../../../slice.ts";

/**
 * Finds a push mirror of a repository by its name. @throws Failure `not_found` if there is none.
 */
export async function findPushMirror(
  { db }: Ctx,
  { row }: RepositoryContext,
  remoteName: string,
): Promise<PushMirror> {
  const [mirror] = await mirrorNamed(db, { repoId: row.id, remoteName });
  if (!mirror) throw notFound("push mirror does not exist");
  return mirror;
}

const mirrorNamed = prepare((db, p: Params<{ repoId: number; remoteName: string }>) =>
  db
    .select()
    .from(pushMirrors)
    .where(and(eq(pushMirrors.repoId, p.repoId), eq(pushMirrors.remoteName, p.remoteName))),
);

/** Lists the push mirrors of a repository, oldest first. */
export async function listPushMirrors(
  { db }: Ctx,
  { row }: RepositoryContext,
  { size, offset }: Slice,
): Promise<Listed<PushMirror>> {
  return toListedPage(await batch(db, mirrorPage(db, { repoId: row.id, size, offset })));
}

const mirrorPage = prepareAll(
  (db, { repoId, size, offset }: Params<Slice & { repoId: number }>) => {
    const isListed = eq(pushMirrors.repoId, repoId);
    return {
      rows: db
        .select()
        .from(pushMirrors)
        .where(isListed)
        .orderBy(asc(pushMirrors.id))
        .limit(size)
        .offset(offset),
      counted: db
        .select({ total: count().as("total") })
        .from(pushMirrors)
        .where(isListed),
    };
  },
);
