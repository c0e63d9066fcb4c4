import {
  isAdministrationInReach,
  requireAdministrationInReach,
} from "../../../auth/access/credential-reach.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { updateRefs } from "../git/update-refs.ts";
import { findRef, openSnapshot } from "../git/open-snapshot.ts";
import { hasRefClash } from "../git/ref-clash.ts";
import { requireWritable } from "../git/require-writable.ts";
import { rulesOfBranch } from "../protections/match-rule.ts";
import { moveRule } from "../protections/move-rule.ts";
import { followsRename } from "../protections/permitted.ts";
import { loadRules } from "../protections/select-rules.ts";
import { checkBranchName } from "./branch-name.ts";
import { branchRef, findBranch } from "./find-branch.ts";

/**
 * Renames a branch atomically. A renamed default branch stays the default, and a rule for this one
 * branch follows it.
 *
 * @throws Failure `not_found` if the branch does not exist, `invalid` for an invalid or taken name,
 * `forbidden` for the default branch and a protected one unless the caller is an administrator of
 * the repository, for a branch that is protected by a pattern or by its organization, and for a new
 * name that a rule keeps the caller from.
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
  const rules = rulesOfBranch(await loadRules(ctx, repo), oldName, ctx.git.budget);
  if (isDefault || rules.length > 0) {
    if (!isAdmin) {
      throw forbidden("User must be a repo or site admin to rename default or protected branches.");
    }
    requireAdministrationInReach(ctx.actor);
  }
  if (!rules.every((rule) => followsRename(rule, oldName))) {
    throw forbidden("Branch is protected by glob-based protection rules.");
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
  // SECURITY: passed for administrators only, since the branch may have become the default in the
  // meantime.
  const mayMoveHead = isAdmin && isAdministrationInReach(ctx.actor);
  const headMove = mayMoveHead ? { from: encodeText(from), to: encodeText(to) } : undefined;
  const update = (copyId?: number) =>
    updateRefs(ctx, repo, snapshot, updates, {
      headMove,
      rename: { from: encodeText(from), to: encodeText(to), copyId },
    });
  const [rule] = rules;
  await (rule ? moveRule(ctx, repo, rule, name, update) : update());
}
