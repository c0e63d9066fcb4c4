import { eq } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import { repositories } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { findPull } from "../pull/find-pull.ts";
import { deleteMergedBranch } from "./delete-merged-branch.ts";

/**
 * Deletes the branch of a merged head if that is wanted, by who merged and as far as they may:
 * after a scheduled merge, and after one whose request ended before it did so.
 */
export const cleanUpMerged: Consequence = {
  name: "merged-branches",
  kinds: ["pull.merged"],
  async handle(ctx, { event }, budget) {
    if (event.type !== "pull.merged" || !event.isBranchDeleted || !ctx.actor.user) return undefined;
    // SECURITY: a bound token would delete by the rights of its account. What is scheduled was
    // judged then.
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
