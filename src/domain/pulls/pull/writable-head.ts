import { findMaintainedBranches } from "../../../auth/access/maintained-branches.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";

/**
 * The repository of the head, if the caller may write to the head's branch: writers of the
 * repository, and those whom the poster of an open pull request of the branch lets edit it.
 *
 * Cost: one query for others than writers.
 *
 * @throws Failure `forbidden`; `locked` if it is archived.
 */
export async function requireWritableHead(
  ctx: Ctx,
  { headRepo, pull }: PullContext,
): Promise<RepositoryContext> {
  if (!headRepo || pull.flow !== "branch") {
    throw forbidden("the head of the pull request is no branch");
  }
  const isWriter = isAllowed(headRepo, { unit: "code", mode: "write" });
  const isMaintained =
    !isWriter &&
    (await findMaintainedBranches(ctx.db, ctx.actor, headRepo.row)).has(pull.headBranch);
  if (!isWriter && !isMaintained) {
    throw forbidden("the branch of the head is not the caller's to write to");
  }
  requireNotArchived(headRepo);
  if (headRepo.row.isMirror) throw forbidden("Git Repository is a mirror.");
  return headRepo;
}
