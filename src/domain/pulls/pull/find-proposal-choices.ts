import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, pulls, type User } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { mayWritePulls } from "../../issues/issue/require-issue-access.ts";
import { issueChoices, type IssueChoices } from "../../issues/lists/list-choices.ts";
import { listAssignees } from "../../repos/collaborators/list-collaborators.ts";
import {
  listPossibleReviewers,
  type PossibleReviewers,
} from "../reviews/list-possible-reviewers.ts";
import { type BranchPair, isTaken } from "./taken-pair.ts";

/** What a caller may give a pull request of two branches when it is opened. */
export interface ProposalChoices {
  /** The number of the open pull request of these branches, if there is one. */
  readonly openNumber: number | undefined;
  /** For writers; undefined for others. */
  readonly choices: IssueChoices | undefined;
  readonly assignees: readonly User[];
  /** Undefined for callers who may not choose any. */
  readonly reviewers: PossibleReviewers | undefined;
}

/** Users of each kind that are offered. */
const SOME = { size: 100, offset: 0 };

/**
 * Finds the open pull request of two branches, and what the caller may choose for a new one.
 *
 * Cost: one round trip, of up to six calls.
 *
 * @param repo The repository of the base, whose pull requests the caller may read.
 */
export async function findProposalChoices(
  ctx: Ctx,
  repo: RepositoryContext,
  pair: Omit<BranchPair, "repoId">,
): Promise<ProposalChoices> {
  const { id: repoId, ownerId } = repo.row;
  const isWriter = mayWritePulls(repo);
  const [{ open }, choices, assignees, reviewers] = await Promise.all([
    batch(ctx.db, openPulls(ctx.db, { ...pair, repoId })),
    isWriter ? batch(ctx.db, issueChoices(ctx.db, { repoId, ownerId })) : undefined,
    isWriter ? listAssignees(ctx, repo, SOME) : NOBODY,
    listPossibleReviewers(ctx, repo),
  ]);
  const { id } = ctx.actor.user ?? {};
  return {
    openNumber: open[0]?.number,
    choices,
    assignees: assignees.items,
    // Nobody reviews their own.
    reviewers: reviewers && {
      ...reviewers,
      users: reviewers.users.filter((user) => user.id !== id),
    },
  };
}

const NOBODY: { readonly items: readonly User[] } = { items: [] };

const openPulls = prepareAll((db, pair: Params<BranchPair>) => ({
  open: db
    .select({ number: issues.number })
    .from(pulls)
    .innerJoin(issues, eq(issues.id, pulls.issueId))
    .where(isTaken(pair))
    .limit(1),
}));
