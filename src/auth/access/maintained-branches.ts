import { and, eq, isNull } from "drizzle-orm";

import { columnsOf, type Database } from "../../db/db.ts";
import { pulls, repositories, type Repository } from "../../db/schema/index.ts";
import type { Actor } from "../actor.ts";
import { callerSql } from "../caller-sql.ts";
import { accessFacts } from "./facts.ts";
import { isAllowed, resolvePermission } from "./permission.ts";

/**
 * Finds the branches of a repository to which the caller may push without any access to it: the
 * heads of open pull requests whose poster lets the maintainers edit them, for callers who may
 * write to the code of the base.
 *
 * SECURITY: the branches alone, and neither their deletion nor anything else of the repository.
 *
 * Cost: one query.
 *
 * @returns Their short names.
 */
export async function findMaintainedBranches(
  db: Database,
  actor: Actor,
  fork: Repository,
): Promise<ReadonlySet<string>> {
  if (!actor.user) return new Set();
  const rows = await db
    .select({
      branch: pulls.headBranch,
      repo: columnsOf(repositories, "r"),
      ...accessFacts(callerSql(actor)),
    })
    .from(pulls)
    .innerJoin(repositories, eq(repositories.id, pulls.repoId))
    .where(
      and(
        eq(pulls.headRepoId, fork.id),
        eq(pulls.isClosed, false),
        eq(pulls.flow, "branch"),
        eq(pulls.allowMaintainerEdit, true),
        eq(repositories.networkName, fork.networkName),
        isNull(repositories.archivedAt),
      ),
    );
  const maintained = rows.filter(({ repo, ...facts }) => {
    const permission = resolvePermission(actor, repo, facts);
    return isAllowed({ row: repo, permission }, { unit: "code", mode: "write" });
  });
  return new Set(maintained.map(({ branch }) => branch));
}
