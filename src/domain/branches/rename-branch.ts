import { isAllowed } from "../../auth/access/permission.ts";
import type { Ctx } from "../../context.ts";
import { encodeText } from "../../git/byte-text.ts";
import { forbidden, invalid } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { updateRefs } from "../git/update-refs.ts";
import { findRef, openSnapshot } from "../git/open-snapshot.ts";
import { hasRefClash } from "../git/ref-clash.ts";
import { requireWritable } from "../git/require-writable.ts";
import { checkBranchName } from "./branch-name.ts";
import { branchRef, findBranch } from "./find-branch.ts";

/**
 * Gives a branch another name, in one step. The default branch stays the default.
 *
 * @throws Failure `not_found` if there is none, `invalid` for a name that can't be or is taken,
 * `forbidden` for the default branch to all but administrators of the repository.
 */
export async function renameBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  oldName: string,
  name: string,
): Promise<void> {
  requireWritable(repo);
  checkBranchName(name, "Name");
  const snapshot = await openSnapshot(ctx, repo);
  const { oid } = findBranch(snapshot, oldName);
  const [from, to] = [branchRef(oldName), branchRef(name)];
  const isAdmin = isAllowed(repo, { mode: "admin" });
  if (snapshot.state.head === encodeText(from) && !isAdmin) {
    throw forbidden("User must be a repo or site admin to rename default or protected branches.");
  }
  if (findRef(snapshot, to) || hasRefClash(snapshot, to, from)) {
    throw invalid(
      "Cannot rename a branch using the same name or rename to a branch that already exists.",
    );
  }
  const updates = [
    { ref: from, from: oid },
    { ref: to, to: oid },
  ];
  // SECURITY: given by administrators alone, for the branch may have become the default meanwhile.
  const headMove = isAdmin ? { from: encodeText(from), to: encodeText(to) } : undefined;
  await updateRefs(ctx, repo, snapshot.repository, updates, headMove);
}
