import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type Repository, type WorkflowRun, workflowRuns } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";

type Named = { readonly id: number } | { readonly number: number };

/**
 * Finds a run of a repository, by its id or by its number there.
 *
 * @throws Failure `not_found`.
 */
export async function findRun(
  { db }: Ctx,
  { id: repoId }: Pick<Repository, "id">,
  by: Named,
): Promise<WorkflowRun> {
  const [run] = await namedRun(db, { repoId, by });
  if (!run) throw notFound();
  return run;
}

const namedRun = prepare((db, { repoId, by }: Params<{ repoId: number; by: Named }>) =>
  db
    .select()
    .from(workflowRuns)
    .where(
      and(
        eq(workflowRuns.repoId, repoId),
        "id" in by ? eq(workflowRuns.id, by.id) : eq(workflowRuns.number, by.number),
      ),
    ),
);
