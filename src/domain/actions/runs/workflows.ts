import { and, asc, count, eq, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Repository, type WorkflowRow, workflows } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

const isPresentIn = (repo: Pick<Repository, "id">) =>
  and(eq(workflows.repoId, repo.id), eq(workflows.isPresent, true));

/** Lists the workflows of the default branch, by file. */
export async function listWorkflows(
  { db }: Ctx,
  repo: Pick<Repository, "id">,
  { size, offset }: Slice,
): Promise<Listed<WorkflowRow>> {
  return toListedPage(
    await batch(db, {
      rows: db
        .select()
        .from(workflows)
        .where(isPresentIn(repo))
        .orderBy(asc(workflows.file))
        .limit(size)
        .offset(offset),
      counted: db
        .select({ total: count().as("total") })
        .from(workflows)
        .where(isPresentIn(repo)),
    }),
  );
}

/**
 * Finds a workflow of the default branch by its file.
 *
 * @throws Failure `not_found`.
 */
export async function findWorkflow(
  { db }: Ctx,
  repo: Pick<Repository, "id">,
  file: string,
): Promise<WorkflowRow> {
  const [found] = await db
    .select()
    .from(workflows)
    .where(and(isPresentIn(repo), eq(workflows.file, file)));
  if (!found) throw notFound();
  return found;
}

/**
 * Decides whether events start a workflow. Its runs go on.
 *
 * @throws Failure `not_found`.
 */
export async function setWorkflowDisabled(
  ctx: Ctx,
  repo: Pick<Repository, "id" | "ownerId">,
  file: string,
  isDisabled: boolean,
): Promise<WorkflowRow> {
  const found = await findWorkflow(ctx, repo, file);
  await batch(ctx.db, {
    edited: ctx.db
      .update(workflows)
      .set({ isDisabled, updatedAt: ctx.now })
      .where(
        and(isPresentIn(repo), eq(workflows.file, file), ne(workflows.isDisabled, isDisabled)),
      ),
    audit: recordAuditIfChanged(ctx, {
      kind: "workflow.edited",
      ownerId: repo.ownerId,
      repoId: repo.id,
      target: file,
      details: { isDisabled },
    }),
  });
  return { ...found, isDisabled };
}
