import { and, eq, inArray, sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { type CallerArgument, callerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, pulls, repositories } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";

/** The pull request of a branch. */
export interface PullOfHead {
  /** The repository of its base. */
  readonly base: RepositoryContext;
  readonly number: number;
  readonly state: "open" | "merged" | "closed";
}

/**
 * Finds the latest pull request of each of some branches, an open one first: into the repository
 * itself, or into the one that it was forked from.
 *
 * SECURITY: leaves out those of a repository whose pull requests the caller may not read.
 *
 * Cost: one round trip.
 */
export async function findPullsOfHeads(
  ctx: Ctx,
  repo: RepositoryContext,
  branches: readonly string[],
): Promise<Map<string, PullOfHead>> {
  const { parents, found } = await batch(
    ctx.db,
    pullsOfHeads(ctx.db, {
      caller: callerArgument(ctx.actor),
      repoId: repo.row.id,
      parentId: repo.row.parentId ?? 0,
      branches: [...branches],
    }),
  );
  const bases = [repo, ...parents.map((row) => toRepositoryContext(ctx.actor, row))].filter(
    (base) => isUnitOn(base.row, "pulls") && isAllowed(base, { unit: "pulls", mode: "read" }),
  );
  const pullsByBranch = new Map<string, PullOfHead>();
  for (const { branch, baseId, number, isClosed, mergedAt } of found) {
    const base = bases.find(({ row }) => row.id === baseId);
    if (!base) continue;
    const state = mergedAt !== null ? "merged" : isClosed === 1 ? "closed" : "open";
    const known = pullsByBranch.get(branch);
    if (!known || state === "open") pullsByBranch.set(branch, { base, number, state });
  }
  return pullsByBranch;
}

interface Heads {
  readonly caller: CallerArgument;
  readonly repoId: number;
  readonly parentId: number;
  readonly branches: readonly string[];
}

const pullsOfHeads = prepareAll((db, p: Params<Heads>) => ({
  parents: selectRepositories(db, toCallerSql(p.caller)).where(eq(repositories.id, p.parentId)),
  found: db
    .select({
      branch: sql<string>`${pulls.headBranch}`.as("of_branch"),
      baseId: sql<number>`${pulls.repoId}`.as("of_base"),
      number: sql<number>`${issues.number}`.as("of_number"),
      isClosed: sql<number>`${pulls.isClosed}`.as("of_closed"),
      mergedAt: sql<number | null>`${pulls.mergedAt}`.as("of_merged"),
      // SQLite takes the other columns from the row with the largest value: an open one first.
      latest: sql<number>`max((not ${pulls.isClosed}) * 1e15 + ${pulls.issueId})`.as("latest"),
    })
    .from(pulls)
    .innerJoin(issues, eq(issues.id, pulls.issueId))
    .where(
      and(
        eq(pulls.headRepoId, p.repoId),
        inArray(pulls.headBranch, p.branches),
        inArray(pulls.repoId, [p.repoId, p.parentId]),
        eq(pulls.flow, "branch"),
      ),
    )
    .groupBy(pulls.headBranch, pulls.repoId),
}));
