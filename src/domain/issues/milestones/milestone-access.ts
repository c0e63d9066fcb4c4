import { isAllowed, modeOf, requireAccess } from "../../../auth/access/permission.ts";
import { ACCESS } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * Refuses callers who have the mode neither in the issues nor in the pull requests of a repository,
 * which share its milestones.
 *
 * @throws Failure `not_found` for callers who may see neither, `forbidden` for those who may read
 *   only.
 */
export function requireMilestoneAccess(repo: RepositoryContext, mode: "read" | "write"): void {
  if (isAllowed(repo, { unit: "issues", mode })) return;
  const unit = modeOf(repo, "pulls") > ACCESS.none ? "pulls" : "issues";
  requireAccess(repo, { unit, mode });
}
