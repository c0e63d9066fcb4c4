import { isAllowed, modeOf, requireAccess } from "../../../auth/access/permission.ts";
import { ACCESS } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * Whether the caller has the mode in the issues or in the pull requests of a repository, which
 * share its milestones.
 */
export const hasMilestoneAccess = (repo: RepositoryContext, mode: "read" | "write"): boolean =>
  isAllowed(repo, { unit: "issues", mode }) || isAllowed(repo, { unit: "pulls", mode });

/**
 * Refuses callers for whom `hasMilestoneAccess` does not hold.
 *
 * @throws Failure `not_found` for callers who may see neither, `forbidden` for those who may read
 *   only.
 */
export function requireMilestoneAccess(repo: RepositoryContext, mode: "read" | "write"): void {
  if (hasMilestoneAccess(repo, mode)) return;
  const unit = modeOf(repo, "pulls") > ACCESS.none ? "pulls" : "issues";
  requireAccess(repo, { unit, mode });
}
