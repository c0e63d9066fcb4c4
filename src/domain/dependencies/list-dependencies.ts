import { inArray, type SQL, sql } from "drizzle-orm";

import { isAllowed } from "../../auth/access/permission.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import { isRepositoryAllowed } from "../../auth/access/visible-repositories.ts";
import type { Actor } from "../../auth/actor.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { issueDependencies, issues, repositories } from "../../db/schema/index.ts";
import { selectTotal } from "../../db/select-total.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered, selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { requireDependenciesOn } from "./dependency.ts";

/**
 * Lists the issues and pull requests for which one waits: those of its own repository first, then by repository, the
 * newest first.
 *
 * @returns `undefined` for each that the caller may not see: it still keeps the other one open.
 * @throws Failure `not_found`, also where dependencies are off.
 */
export function listDependencies(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<IssueContext | undefined>> {
  requireDependenciesOn(repo);
  const linked = sql`
    from ${issueDependencies}
    join ${issues} on ${issues.id} = ${issueDependencies.blockerId}
    join ${repositories} on ${repositories.id} = ${issues.repoId}
    where ${issueDependencies.issueId} = ${idOf(repo, number)}`;
  return listLinked(ctx, repo, number, linked, slice);
}

/**
 * Lists the issues and pull requests that wait for one, in the same order. Those that the caller may not see are left out.
 *
 * @throws Failure `not_found`.
 */
export async function listWaiting(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<IssueContext>> {
  const linked = sql`
    from ${issueDependencies}
    join ${issues} on ${issues.id} = ${issueDependencies.issueId}
    join ${repositories} on ${repositories.id} = ${issues.repoId}
    where ${issueDependencies.blockerId} = ${idOf(repo, number)} and ${isIssueAllowed(ctx.actor)}`;
  const { items, total } = await listLinked(ctx, repo, number, linked, slice);
  return { items: items.filter((item) => item !== undefined), total };
}

/** The condition, on the issues and repositories of a query, that the caller may see the issue. */
function isIssueAllowed(actor: Actor): SQL {
  const principal = principalOf(actor);
  return sql`case
    when ${issues.isPull} then ${isRepositoryAllowed(principal, { unit: "pulls", mode: "read" })}
    else ${isRepositoryAllowed(principal, { unit: "issues", mode: "read" })}
  end`;
}

const idOf = (repo: RepositoryContext, number: number): SQL =>
  sql`(
    select subject.id
    from ${issues} subject
    where subject.repo_id = ${repo.row.id} and subject.number = ${number}
  )`;

async function listLinked(
  { db, actor }: Ctx,
  repo: RepositoryContext,
  number: number,
  linked: SQL,
  { size, offset }: Slice,
): Promise<Listed<IssueContext | undefined>> {
  const order = sql`
    ${issues.repoId} <> ${repo.row.id},
    ${issues.repoId},
    ${issues.createdAt} desc,
    ${issues.id} desc`;
  const page = (column: SQL): SQL => sql`(
    select page.id
    from (select ${column} as id ${linked} order by ${order} limit ${size} offset ${offset}) page
  )`;
  const [[subject], rows, repoRows, [counted]] = await db.batch([
    db.select({ isPull: issues.isPull }).from(issues).where(isNumbered(repo.row.id, number)),
    selectIssues(db)
      .where(inArray(issues.id, page(sql`${issues.id}`)))
      .orderBy(order),
    selectRepositories(db, callerSql(actor)).where(
      inArray(repositories.id, page(sql`${issues.repoId}`)),
    ),
    selectTotal(db, sql`(select count(*) ${linked})`),
  ]);
  if (!subject || !isIssueVisible(repo, subject)) throw notFound("issue does not exist");
  const repos = new Map(
    repoRows.map((row) => [row.repo.id, toRepositoryContext(actor, row)] as const),
  );
  const items = rows.map((row) => {
    const found = repos.get(row.issue.repoId);
    const isSeen = found && isAllowed(found, TO_SEE) && isIssueVisible(found, row.issue);
    return isSeen ? toIssueContext(found, row) : undefined;
  });
  return { items, total: counted?.total ?? 0 };
}
