import { and, eq, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Import, imports } from "../../../db/schema/index.ts";
import { conflict } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { setOrigin } from "./end-import.ts";
import { findImport } from "./find-import.ts";
import { forgetAnswers } from "./stored-answers.ts";

/**
 * Ends a running import. Imported data stays; a job that works on the import has lost its lease and
 * writes nothing more.
 *
 * @throws Failure `not_found` for a repository that was not imported, `conflict` if its import has
 *   ended.
 */
export async function cancelImport(ctx: Ctx, repo: RepositoryContext): Promise<Import> {
  const { id } = await findImport(ctx, repo);
  const [[row]] = await ctx.db.batch([
    ctx.db
      .update(imports)
      .set({ state: "cancelled", dueAt: null, leasedUntil: 0, finishedAt: ctx.now })
      .where(and(eq(imports.id, id), inArray(imports.state, ["running", "waiting"])))
      .returning(),
    setOrigin(ctx, repo.row.id, "cancelled", sql`changes() > 0`),
    forgetAnswers(ctx.db, id),
  ]);
  if (!row) throw conflict("the migration has ended already");
  return row;
}
