import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Repository, type WorkflowRun, workflowRuns } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";

/**
 * Finds a run of a repository, by its id or by its number there.
 *
 * @throws Failure `not_found`.
 */
export async function findRun(
  { db }: Ctx,
  repo: Pick<Repository, "id">,
  by: { readonly id: number } | { readonly number: number },
): Promise<WorkflowRun> {
  const [run] = await db
    .select()
    .from(workflowRuns)
    .where(
      and(
        eq(workflowRuns.repoId, repo.id),
        "id" in by ? eq(workflowRuns.id, by.id) : eq(workflowRuns.number, by.number),
      ),
    );
  if (!run) throw notFound();
  return run;
}
