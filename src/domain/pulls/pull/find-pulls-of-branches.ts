import { and, asc, eq, inArray } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { issues, pulls, repositories } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";

/** The open pull requests of branches of a repository, and the repository of their bases. */
export interface PullsOfBranches {
  /** The repository itself, or the one that it was forked from. */
  readonly base: RepositoryContext;
  /**
   * The numbers of open pull requests, by branch; of several those into the default branch come
   * first.
   */
  readonly numbers: ReadonlyMap<string, number>;
}

/**
 * Finds the open pull requests of branches, in the repository in which a new one would be opened.
 *
 * Cost: one round trip.
 *
 * @returns Undefined where the caller can open none.
 */
export async function findPullsOfBranches(
  ctx: Ctx,
  repo: RepositoryContext,
  branches: readonly string[],
): Promise<PullsOfBranches | undefined> {
  const { parentId } = repo.row;
  const baseId = parentId ?? repo.row.id;
  const { repos, open } = await batch(ctx.db, {
    repos: selectRepositories(ctx.db, callerSql(ctx.actor)).where(eq(repositories.id, baseId)),
    open: ctx.db
      .select({ number: columnsOf(issues, "i").number, ...pullColumns() })
      .from(pulls)
      .innerJoin(issues, eq(issues.id, pulls.issueId))
      .where(
        and(
          eq(pulls.headRepoId, repo.row.id),
          inArray(pulls.headBranch, [...branches]),
          eq(pulls.isClosed, false),
          eq(pulls.repoId, baseId),
          eq(pulls.flow, "branch"),
        ),
      )
      .orderBy(asc(pulls.issueId)),
  });
  const [row] = repos;
  const base = row && toRepositoryContext(ctx.actor, row);
  if (!base || !isUnitOn(base.row, "pulls")) return undefined;
  if (!isAllowed(base, { unit: "pulls", mode: "read" })) return undefined;
  const numbers = new Map<string, number>();
  const isDefault = (each: { base: string }): boolean => each.base === base.row.defaultBranch;
  for (const each of open.toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))) {
    if (!numbers.has(each.head)) numbers.set(each.head, each.number);
  }
  return { base, numbers };
}

const pullColumns = () => {
  const { headBranch, baseBranch } = columnsOf(pulls, "pull");
  return { head: headBranch, base: baseBranch };
};
