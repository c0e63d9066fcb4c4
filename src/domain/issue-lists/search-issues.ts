import { sql, type SQL } from "drizzle-orm";

import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { qualified } from "../../db/db.ts";
import { issues, repositories } from "../../db/schema/index.ts";
import { malformed } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { integer } from "./arguments.ts";
import type { IssueFilter } from "./issue-query.ts";
import { orderOf, termsOf } from "./orders.ts";
import { ownerIdOf, type SearchScope, teamIdOf } from "./search-scope.ts";
import { FOUND_MAX, searchStatements } from "./search-statements.ts";

/** A search over all repositories that the caller sees. */
interface IssueSearch {
  /** Undefined if nothing can match. */
  readonly filter: IssueFilter | undefined;
  readonly scope: SearchScope;
  /** A repository whose issues come first. */
  readonly priorityRepoId: number | undefined;
}

/**
 * Searches the issues and pull requests that the caller may see.
 *
 * Rows read do not grow with the number of repositories: a search for a user, for words, or in some repositories reads
 * the index of those; any other one looks at a bounded number of the newest issues, and at the newest of each repository
 * that was granted to the caller.
 *
 * SECURITY: conditions on the caller's access are part of each statement that finds or counts. Labels and milestones
 * that the caller can't see count as unknown.
 *
 * @throws Failure `malformed` for an owner or a team that does not exist.
 */
export async function searchIssues(
  ctx: Ctx,
  { filter, scope, priorityRepoId }: IssueSearch,
  { size, offset }: Slice,
): Promise<Listed<IssueContext>> {
  const { actor } = ctx;
  const order = orderOf(filter?.sort ?? "newest");
  // Over several repositories, the age is the order of ids.
  const terms = order.isByAge ? termsOf(order).slice(1) : termsOf(order);
  if (priorityRepoId !== undefined) {
    terms.unshift(sql`(${issues.repoId} = ${integer(priorityRepoId)}) desc`);
  }
  const statements = filter && searchStatements(actor, filter, scope, priorityRepoId);
  const reach = order.isByAge ? offset + size : FOUND_MAX;
  const ids: SQL = statements
    ? sql`
        select ${issues.id} from ${issues}
        where ${issues.id} in (${statements.find(reach)})
        order by ${sql.join(terms, sql`, `)}
        limit ${integer(size)} offset ${integer(offset)}`
    : sql`select id from ${issues} where 0`;
  const totalMax = FOUND_MAX + (order.isByAge ? offset + size : 0);
  const { owner, team } = scope;
  const column = <T>(value: SQL | undefined, name: string) =>
    qualified<T>(value ?? sql`null`).as(name);
  const [rows, repos, [counted]] = await ctx.db.batch([
    selectIssues(ctx.db)
      .where(sql`${issues.id} in (${ids})`)
      .orderBy(...terms),
    selectRepositories(ctx.db, callerSql(actor)).where(
      sql`${repositories.id} in (select repo_id from ${issues} where id in (${ids}))`,
    ),
    ctx.db
      .select({
        total: column<number | null>(statements?.count(totalMax), "total"),
        ownerId: column<number | null>(
          owner === undefined ? undefined : ownerIdOf(actor, owner),
          "owner_id",
        ),
        teamId: column<number | null>(
          owner === undefined || team === undefined ? undefined : teamIdOf(actor, owner, team),
          "team_id",
        ),
      })
      .from(sql`(select 1)`),
  ]);
  if (owner !== undefined && !counted?.ownerId) {
    throw malformed("user does not exist");
  }
  if (team !== undefined && !counted?.teamId) {
    throw malformed("team does not exist");
  }
  const byId = new Map(repos.map((row) => [row.repo.id, toRepositoryContext(actor, row)]));
  return {
    items: rows.flatMap((row) => {
      const repo = byId.get(row.issue.repoId);
      return repo ? [toIssueContext(repo, row)] : [];
    }),
    total: counted?.total ?? 0,
  };
}
