import {
  isAdministrationInReach,
  requireAdministrationInReach,
} from "../../auth/access/credential-reach.ts";
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
 * Renames a branch atomically. A renamed default branch stays the default.
 *
 * @throws Failure `not_found` if the branch does not exist, `invalid` for an invalid or taken name, `forbidden`
 * for the default branch unless the caller is an administrator of the repository.
 */
export async function renameBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  oldName: string,
  name: string,
): Promise<void> {
  requireWritable(repo);
  checkBranchName(name, "name");
  const snapshot = await openSnapshot(ctx, repo);
  const { oid } = findBranch(snapshot, oldName);
  const [from, to] = [branchRef(oldName), branchRef(name)];
  const isAdmin = isAllowed(repo, { mode: "admin" });
  const isDefault = snapshot.state.head === encodeText(from);
  if (isDefault && !isAdmin) {
    throw forbidden("User must be a repo or site admin to rename default or protected branches.");
  }
  if (isDefault) requireAdministrationInReach(ctx.actor);
  if (findRef(snapshot, to) || hasRefClash(snapshot, to, from)) {
    throw invalid(
      "Cannot rename a branch using the same name or rename to a branch that already exists.",
    );
  }
  const updates = [
    { ref: from, from: oid },
    { ref: to, to: oid },
  ];
  // SECURITY: passed for administrators only, since the branch may have become the default in the meantime.
  const mayMoveHead = isAdmin && isAdministrationInReach(ctx.actor);
  const headMove = mayMoveHead ? { from: encodeText(from), to: encodeText(to) } : undefined;
  await updateRefs(ctx, repo, snapshot, updates, { headMove });
}
