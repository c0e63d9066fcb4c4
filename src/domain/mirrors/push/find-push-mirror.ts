import { and, asc, count, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type PushMirror, pushMirrors } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../../slice.ts";

/** Finds a push mirror of a repository by its name. @throws Failure `not_found` if there is none. */
export async function findPushMirror(
  { db }: Ctx,
  { row }: RepositoryContext,
  remoteName: string,
): Promise<PushMirror> {
  const [mirror] = await db
    .select()
    .from(pushMirrors)
    .where(and(eq(pushMirrors.repoId, row.id), eq(pushMirrors.remoteName, remoteName)));
  if (!mirror) throw notFound("push mirror does not exist");
  return mirror;
}

/** Lists the push mirrors of a repository, oldest first. */
export async function listPushMirrors(
  { db }: Ctx,
  { row }: RepositoryContext,
  { size, offset }: Slice,
): Promise<Listed<PushMirror>> {
  const isListed = eq(pushMirrors.repoId, row.id);
  const [items, [counted]] = await db.batch([
    db
      .select()
      .from(pushMirrors)
      .where(isListed)
      .orderBy(asc(pushMirrors.id))
      .limit(size)
      .offset(offset),
    db
      .select({ total: count().as("total") })
      .from(pushMirrors)
      .where(isListed),
  ]);
  return { items, total: counted?.total ?? 0 };
}
