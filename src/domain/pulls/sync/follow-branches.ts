import { and, desc, eq, isNotNull, isNull, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import { branchTips, pulls } from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import { Failure } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { asOpenBlockers, stateStatements } from "../../issues/issue/change-state.ts";
import { insertEntryIfChanged } from "../../issues/issue/insert-entry.ts";
import { openRetarget, retargetStatements } from "../pull/retarget-pull.ts";

/** A branch that another name has now, by short names. */
export interface RenamedBranch {
  readonly from: string;
  readonly to: string;
}

/**
 * Lets the pull requests that are not merged follow a renamed branch, those that are closed as
 * well. Idempotent.
 *
 * Cost: one D1 batch, and one call of the Durable Object.
 */
export async function followRename(
  ctx: Ctx,
  repo: RepositoryContext,
  { from, to }: RenamedBranch,
): Promise<void> {
  const { id: repoId } = repo.row;
  await keepTip(ctx, repo, to);
  const isOpen = isNull(pulls.mergedAt);
  await ctx.db.batch([
    ctx.db
      .update(pulls)
      .set({ baseBranch: to })
      .where(and(eq(pulls.repoId, repoId), eq(pulls.baseBranch, from), isOpen)),
    ctx.db
      .update(pulls)
      .set({ headBranch: to })
      .where(
        and(
          eq(pulls.headRepoId, repoId),
          eq(pulls.headBranch, from),
          eq(pulls.flow, "branch"),
          isOpen,
        ),
      ),
  ]);
}

/**
 * Keeps the value of a branch that pull requests have from now on.
 *
 * The row is there before the value is read: a push that comes later writes its own value into it.
 */
async function keepTip(ctx: Ctx, { row }: RepositoryContext, branch: string): Promise<void> {
  const inserted = await ctx.db
    .insert(branchTips)
    .values({ repoId: row.id, branch })
    .onConflictDoNothing()
    .returning({ branch: branchTips.branch });
  if (inserted.length === 0) return;
  const state = await ctx.git.repository(row).snapshot("none");
  const oid = findRef({ state }, branchRef(branch))?.oid ?? null;
  await ctx.db
    .update(branchTips)
    .set({ oid })
    .where(
      and(eq(branchTips.repoId, row.id), eq(branchTips.branch, branch), eq(branchTips.logId, 0)),
    );
}

/**
 * Closes a pull request because a branch of it is gone. One that waits for others stays open, and
 * one that is closed stays as it is.
 *
 * @param branch The branch that was deleted; undefined if its repository was.
 */
export async function closeWithBranch(
  ctx: Ctx,
  pull: PullContext,
  branch: string | undefined,
): Promise<void> {
  const { id: issueId, repoId } = pull.row;
  const entries =
    branch === undefined
      ? []
      : [insertEntryIfChanged(ctx, { kind: "delete_branch", repoId, issueId, oldValue: branch })];
  try {
    await ctx.db.batch([...stateStatements(ctx, pull, true), ...entries]);
  } catch (error) {
    const refusal = asOpenBlockers(error);
    if (!(refusal instanceof Failure)) throw error;
  }
}

/**
 * Finds the base to which pull requests move when theirs is deleted: the one into which the deleted
 * branch was merged, with the commit that it had.
 */
export async function findMergedInto(
  ctx: Ctx,
  repo: RepositoryContext,
  branch: string,
  lastOid: Oid,
): Promise<string | undefined> {
  const { id: repoId } = repo.row;
  const [merged] = await ctx.db
    .select({ baseBranch: pulls.baseBranch })
    .from(pulls)
    .where(
      and(
        eq(pulls.headRepoId, repoId),
        eq(pulls.headBranch, branch),
        eq(pulls.isClosed, true),
        eq(pulls.repoId, repoId),
        eq(pulls.headOid, lastOid),
        isNotNull(pulls.mergedAt),
        ne(pulls.baseBranch, branch),
      ),
    )
    .orderBy(desc(pulls.issueId))
    .limit(1);
  return merged?.baseBranch;
}

/**
 * Moves an open pull request to another base, as its people could.
 *
 * @returns False if it did not move: the base is gone or its own head, or there is an open one of
 *   these branches already.
 */
export async function retarget(ctx: Ctx, pull: PullContext, to: string): Promise<boolean> {
  const { headRepoId, headBranch, flow } = pull.pull;
  if (flow === "branch" && headRepoId === pull.row.repoId && headBranch === to) return false;
  try {
    const retargeting = await openRetarget(ctx, pull, to);
    if (retargeting) await ctx.db.batch(retargetStatements(ctx, pull, retargeting));
    return true;
  } catch (error) {
    if (error instanceof Failure || isViolation(error, "NOT NULL", "pulls.base_branch"))
      return false;
    throw error;
  }
}
