import { asc, inArray, type SQL } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { OWNER_PERMISSION, pulls, repositories } from "../../../db/schema/index.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { selectPulls, toPullContext } from "../pull/find-pull.ts";

/** Pull requests that one step of the synchronization handles. */
export const PULLS_AT_ONCE = 50;

/**
 * Loads open or closed pull requests with their repositories, by id.
 *
 * SECURITY: only for the service's own work. The repositories have the owner's permission, not the
 * caller's.
 *
 * Cost: two round trips.
 */
export async function loadPulls(
  ctx: Ctx,
  condition: SQL,
  limit: number = PULLS_AT_ONCE,
): Promise<PullContext[]> {
  const rows = await selectPulls(ctx.db).where(condition).orderBy(asc(pulls.issueId)).limit(limit);
  const ids = new Set(rows.flatMap((row) => row.pulls.flatMap((each) => idsOf(each))));
  if (ids.size === 0) return [];
  const found = await selectRepositories(ctx.db, callerSql(ctx.actor)).where(
    inArray(repositories.id, [...ids]),
  );
  const byId = new Map(
    found.map((row): [number, RepositoryContext] => [
      row.repo.id,
      { ...toRepositoryContext(ctx.actor, row), permission: OWNER_PERMISSION },
    ]),
  );
  return rows.flatMap((row) => {
    const repo = byId.get(row.issue.repoId);
    const headRepo = byId.get(row.pulls[0]?.headRepoId ?? 0);
    return repo ? [toPullContext(repo, row, headRepo ? [headRepo] : [])] : [];
  });
}

const idsOf = ({ repoId, headRepoId }: { repoId: number; headRepoId: number }): number[] => [
  repoId,
  headRepoId,
];

/** Groups pull requests by the repository of their base. */
export function byBase(all: readonly PullContext[]): [RepositoryContext, PullContext[]][] {
  const groups = new Map<number, [RepositoryContext, PullContext[]]>();
  for (const pull of all) {
    const group = groups.get(pull.repo.row.id) ?? [pull.repo, []];
    group[1].push(pull);
    groups.set(pull.repo.row.id, group);
  }
  return [...groups.values()];
}
