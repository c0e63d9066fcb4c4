import { eq } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import { repositories } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { findPull } from "../pull/find-pull.ts";
import { deleteMergedBranch } from "./delete-merged-branch.ts";

/**
 * Deletes the branch of a merged head if the merge requested it, with the permissions of the
 * merger: after a scheduled merge, and after a request that ended before it deleted the branch.
 */
export const cleanUpMerged: Consequence = {
  name: "merged-branches",
  kinds: ["pull.merged"],
  async handle(ctx, { event }, budget) {
    if (event.type !== "pull.merged" || !event.isBranchDeleted || !ctx.actor.user) return undefined;
    // SECURITY: a bound token would delete with the permissions of its account. Its access was
    // checked when a merge was scheduled.
    if (event.isConfined && !event.isAutomatic) return undefined;
    budget.consume(10);
    const [row] = await selectRepositories(ctx.db, callerSql(ctx.actor)).where(
      eq(repositories.id, event.repoId),
    );
    if (!row) return undefined;
    const repo = toRepositoryContext(ctx.actor, row);
    await deleteMergedBranch(ctx, await findPull(ctx, repo, event.number));
    return undefined;
  },
};
