import { eq, inArray, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isAllowed } from "../../../auth/access/permission.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import { isRepositoryAllowed } from "../../../auth/access/visible-repositories.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, type PrincipalSql, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issueDependencies, issues, repositories } from "../../../db/schema/index.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered, selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { selectRepositories, toRepositoriesById } from "../../repos/repository/find-repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { requireDependenciesOn } from "./dependency.ts";

/**
 * Lists the issues and pull requests for which one waits: those of its own repository first, then
 * by repository, the newest first.
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
  return listLinked(ctx, repo, number, "blockers", slice);
}

/**
 * Lists the issues and pull requests that wait for one, in the same order. Those that the caller
 * may not see are left out.
 *
 * @throws Failure `not_found`.
 */
export async function listWaiting(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<IssueContext>> {
  const { items, total } = await listLinked(ctx, repo, number, "waiting", slice);
  return { items: items.filter((item) => item !== undefined), total };
}

async function listLinked(
  { db, actor }: Ctx,
  repo: RepositoryContext,
  number: number,
  side: Side,
  { size, offset }: Slice,
): Promise<Listed<IssueContext | undefined>> {
  const list = { repoId: repo.row.id, number, principal: principalOf(actor), size, offset };
  const {
    issues: [found],
    repos: repoRows,
    ...page
  } = await batch(db, linkedPage(db, list, side));
  if (!found || !isIssueVisible(repo, found)) throw notFound("issue does not exist");
  const repos = toRepositoriesById(actor, repoRows);
  return toListedPage(page, (row) => {
    const owner = repos.get(row.issue.repoId);
    const isSeen = owner && isAllowed(owner, TO_SEE) && isIssueVisible(owner, row.issue);
    return isSeen ? toIssueContext(owner, row) : undefined;
  });
}

/** Whether the issues are listed for which one waits, or those that wait for it. */
type Side = "blockers" | "waiting";

interface LinkedList extends Slice {
  readonly repoId: number;
  readonly number: number;
  readonly principal: Principal;
}

const subject = alias(issues, "subject");
const listed = derivedTable("listed", "id");

const linkedPage = prepareAll((db, list: Params<LinkedList>, side: Side) => {
  const { repoId, number, principal, size, offset } = list;
  const { blockerId, issueId } = issueDependencies;
  const [listedId, subjectId] = side === "blockers" ? [blockerId, issueId] : [issueId, blockerId];
  const idOfSubject = sql`(
    select ${subject.id}
    from ${issues} ${subject}
    where ${subject.repoId} = ${repoId} and ${subject.number} = ${number}
  )`;
  const isListed = allOf(
    eq(subjectId, idOfSubject),
    side === "waiting" ? isIssueAllowed(principal) : undefined,
  );
  const linked = sql`
    from ${issueDependencies}
    join ${issues} on ${issues.id} = ${listedId}
    join ${repositories} on ${repositories.id} = ${issues.repoId}
    where ${isListed}`;
  const order = sql`
    ${issues.repoId} <> ${repoId},
    ${issues.repoId},
    ${issues.createdAt} desc,
    ${issues.id} desc`;
  const page = (column: SQL): SQL => sql`(
    select ${listed.id}
    from (
      select ${column} as id ${linked} order by ${order} limit ${size} offset ${offset}
    ) ${listed}
  )`;
  return {
    issues: db.select({ isPull: issues.isPull }).from(issues).where(isNumbered(repoId, number)),
    rows: selectIssues(db)
      .where(inArray(issues.id, page(sql`${issues.id}`)))
      .orderBy(order),
    repos: selectRepositories(db, toCallerSql(principal)).where(
      inArray(repositories.id, page(sql`${issues.repoId}`)),
    ),
    counted: selectTotal(db, sql`(select count(*) ${linked})`),
  };
});

/** The condition, on the issues and repositories of a query, that the caller may see the issue. */
const isIssueAllowed = (principal: PrincipalSql): SQL => sql`case
  when ${issues.isPull} then ${isRepositoryAllowed(principal, { unit: "pulls", mode: "read" })}
  else ${isRepositoryAllowed(principal, { unit: "issues", mode: "read" })}
end`;
