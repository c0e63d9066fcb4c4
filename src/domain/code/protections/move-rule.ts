import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { branchProtections, type BranchProtection } from "../../../db/schema/index.ts";
import { Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";

/**
 * Renames a branch with the rule that is for it alone.
 *
 * SECURITY: refs and rules are in different stores. The new name is protected by a copy before the
 * branch has it, and the old one until the branch has left it, so that a Worker that dies between
 * two steps leaves no branch without its rule.
 *
 * Cost: two calls of the database besides `rename`.
 *
 * @param rename Renames the branch, and throws if it does not. It receives the id of the copy,
 * which is no rule yet for those who rename. Where there is a rule for the new name, that one stays
 * and there is no copy.
 */
export async function moveRule(
  ctx: Ctx,
  { row }: RepositoryContext,
  rule: BranchProtection,
  name: string,
  rename: (copyId?: number) => Promise<void>,
): Promise<void> {
  const { db, now } = ctx;
  const { id, repoId } = rule;
  const isThis = eq(branchProtections.id, id);
  const isOfName = and(eq(branchProtections.repoId, row.id), eq(branchProtections.name, name));
  const { priority, isPriorityExplicit, settings, createdAt, updatedAt } = branchProtections;
  const copied = { priority, isPriorityExplicit, settings, createdAt, updatedAt };
  const [copy] = await insertSelect(
    db,
    branchProtections,
    { repoId, name, ...copied },
    sql`
      from ${branchProtections}
      where ${isThis} and not exists (
        select 1 from ${branchProtections} other
        where other.repo_id = ${row.id} and other.name = ${name}
      )`,
  ).returning({ id: branchProtections.id });
  if (!copy) return rename();

  const dropCopy = db.delete(branchProtections).where(eq(branchProtections.id, copy.id));
  try {
    await rename(copy.id);
  } catch (error) {
    // Of anything else it is unknown whether the branch has its new name.
    if (error instanceof Failure) await dropCopy;
    throw error;
  }
  await db.batch([
    dropCopy,
    db
      .update(branchProtections)
      .set({ name, updatedAt: now })
      .where(and(isThis, sql`not exists (select 1 from ${branchProtections} where ${isOfName})`)),
    recordAuditIfChanged(ctx, {
      kind: "branch_protection.edited",
      ownerId: row.ownerId,
      repoId: row.id,
      target: name,
    }),
  ]);
}
