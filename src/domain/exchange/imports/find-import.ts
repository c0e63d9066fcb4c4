import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type Import, imports } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * Finds the import of a repository. @throws Failure `not_found` for a repository that was made
 * here.
 */
export async function findImport({ db }: Ctx, { row }: RepositoryContext): Promise<Import> {
  const [found] = await importOf(db, { repoId: row.id });
  if (!found) throw notFound();
  return found;
}

const importOf = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db.select().from(imports).where(eq(imports.repoId, repoId)),
);
