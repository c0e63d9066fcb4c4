import { and, asc, count, eq, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { type Repository, type WorkflowRow, workflows } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

const isPresentIn = (repo: Pick<Repository, "id"> | Params<Pick<Repository, "id">>) =>
  and(eq(workflows.repoId, repo.id), eq(workflows.isPresent, true));

/** Lists the workflows of the default branch, by file. */
export const listWorkflows = async (
  { db }: Ctx,
  { id }: Pick<Repository, "id">,
  { size, offset }: Slice,
): Promise<Listed<WorkflowRow>> =>
  toListedPage(await batch(db, pageOfWorkflows(db, { repo: { id }, size, offset })));

const pageOfWorkflows = prepareAll((db, p: Params<{ repo: Pick<Repository, "id"> } & Slice>) => ({
  rows: db
    .select()
    .from(workflows)
    .where(isPresentIn(p.repo))
    .orderBy(asc(workflows.file))
    .limit(p.size)
    .offset(p.offset),
  counted: db
    .select({ total: count().as("total") })
    .from(workflows)
    .where(isPresentIn(p.repo)),
}));

/**
 * Finds a workflow of the default branch by its file.
 *
 * @throws Failure `not_found`.
 */
export async function findWorkflow(
  { db }: Ctx,
  { id }: Pick<Repository, "id">,
  file: string,
): Promise<WorkflowRow> {
  const [found] = await workflowOf(db, { repo: { id }, file });
  if (!found) throw notFound();
  return found;
}

interface WorkflowOf {
  readonly repo: Pick<Repository, "id">;
  readonly file: string;
}

const workflowOf = prepare((db, { repo, file }: Params<WorkflowOf>) =>
  db
    .select()
    .from(workflows)
    .where(and(isPresentIn(repo), eq(workflows.file, file))),
);

/**
 * Decides whether events start a workflow. Its runs go on.
 *
 * @throws Failure `not_found`; `locked` in an archived repository.
 */
export async function setWorkflowDisabled(
  ctx: Ctx,
  context: RepositoryContext,
  file: string,
  isDisabled: boolean,
): Promise<WorkflowRow> {
  requireNotArchived(context);
  const { row: repo } = context;
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
