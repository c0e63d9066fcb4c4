import { and, eq, ne, or } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { pulls } from "../../../db/schema/index.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { Failure } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef, openSnapshot } from "../../code/git/open-snapshot.ts";
import { requireWritable } from "../../code/git/require-writable.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import { insertEntry } from "../../issues/issue/insert-entry.ts";

/**
 * Deletes the branch of a merged head, if the caller may delete it, it still has the merged value,
 * and no other open pull request has it as head or base.
 *
 * Ignores refusals, since the merge is complete without it.
 */
export async function deleteMergedBranch(ctx: Ctx, context: PullContext): Promise<void> {
  const { headRepo, pull, row } = context;
  const { headBranch, headRepoId } = pull;
  // SECURITY: who may write to a fork by a pull request of its branch may not delete the branch.
  const isOwn = headRepo && isAllowed(headRepo, { unit: "code", mode: "write" });
  if (!isOwn || pull.flow !== "branch") return;
  const [used] = await ctx.db
    .select({ issueId: pulls.issueId })
    .from(pulls)
    .where(
      and(
        eq(pulls.isClosed, false),
        ne(pulls.issueId, row.id),
        or(
          and(eq(pulls.headRepoId, headRepoId), eq(pulls.headBranch, headBranch)),
          and(eq(pulls.repoId, headRepoId), eq(pulls.baseBranch, headBranch)),
        ),
      ),
    )
    .limit(1);
  if (used) return;
  try {
    requireWritable(headRepo);
    const snapshot = await openSnapshot(ctx, headRepo);
    const ref = branchRef(headBranch);
    const isMerged = findRef(snapshot, ref)?.oid === pull.headOid;
    if (!isMerged || snapshot.state.head === encodeText(ref)) return;
    await updateRefs(ctx, headRepo, snapshot, [{ ref, from: pull.headOid }]);
  } catch (error) {
    if (error instanceof Failure) return;
    throw error;
  }
  const { repoId, id: issueId } = row;
  await insertEntry(ctx, { kind: "delete_branch", repoId, issueId, oldValue: headBranch });
}
