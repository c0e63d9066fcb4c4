import { eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { type Params, prepare } from "../../../../db/prepared.ts";
import { type PullMirror, pullMirrors } from "../../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";

/** Finds the mirror that a repository is; undefined if it is none. */
export async function findPullMirror(
  { db }: Ctx,
  { row }: RepositoryContext,
): Promise<PullMirror | undefined> {
  const [mirror] = row.isMirror ? await mirrorOf(db, { repoId: row.id }) : [];
  return mirror;
}

const mirrorOf = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db.select().from(pullMirrors).where(eq(pullMirrors.repoId, repoId)),
);
