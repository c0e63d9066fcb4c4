import { eq, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { allOf } from "../../../db/db.ts";
import type { Params } from "../../../db/prepared.ts";
import { pulls } from "../../../db/schema/index.ts";
import { conflict, type Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** The two branches of a pull request. */
export interface BranchPair {
  /** The repository of the base. */
  readonly repoId: number;
  readonly headRepoId: number;
  readonly headBranch: string;
  readonly baseBranch: string;
}

/**
 * The condition for the open pull request of two branches, of which there is one at most when it is
 * opened.
 */
export const isTaken = ({
  repoId,
  headRepoId,
  headBranch,
  baseBranch,
}: BranchPair | Params<BranchPair>): SQL =>
  allOf(
    eq(pulls.repoId, repoId),
    eq(pulls.headRepoId, headRepoId),
    eq(pulls.headBranch, headBranch),
    eq(pulls.baseBranch, baseBranch),
    eq(pulls.isClosed, false),
    eq(pulls.flow, "branch"),
  );

/** The refusal for a second open pull request of two branches, in the words that clients parse. */
export async function asTaken(ctx: Ctx, repo: RepositoryContext, isThePair: SQL): Promise<Failure> {
  const [pull] = await ctx.db
    .select({
      issueId: pulls.issueId,
      headRepoId: pulls.headRepoId,
      headBranch: pulls.headBranch,
      baseBranch: pulls.baseBranch,
    })
    .from(pulls)
    .where(isThePair)
    .limit(1);
  if (!pull) return conflict("pull request already exists for these targets");
  return conflict(
    `pull request already exists for these targets [id: ${pull.issueId}, issue_id: ${pull.issueId}, ` +
      `head_repo_id: ${pull.headRepoId}, base_repo_id: ${repo.row.id}, ` +
      `head_branch: ${pull.headBranch}, base_branch: ${pull.baseBranch}]`,
  );
}
