import { and, eq, sql } from "drizzle-orm";

import { isAllowed } from "../../auth/access/permission.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import { type Principal, principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../db/prepared.ts";
import {
  crossShardDependencies,
  issueDependencies,
  issues,
  repositories,
} from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered, toIssueContext } from "../issues/find-issue.ts";
import { toRepositoriesById } from "../repos/find-repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { requireDependenciesOn } from "./dependency.ts";
import { isIssueAllowed } from "./issue-allowed.ts";
import { listBlockersAcrossShards, listWaitingInAllShards } from "./list-across-shards.ts";
import { selectLinked } from "./select-linked.ts";

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
  return listLinked(ctx, repo, number, "blockers", slice);
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
  const { items, total } = await listLinked(ctx, repo, number, "waiting", slice);
  return { items: items.filter((item) => item !== undefined), total };
}

async function listLinked(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  side: Side,
  { size, offset }: Slice,
): Promise<Listed<IssueContext | undefined>> {
  const { db, actor } = ctx;
  if (side === "waiting" && ctx.openShards().size > 0) {
    const [subject] = await subjectNumbered(db, { repoId: repo.row.id, number });
    if (!subject || !isIssueVisible(repo, subject)) throw notFound("issue does not exist");
    return listWaitingInAllShards(ctx, subject, { size, offset });
  }
  const list = { repoId: repo.row.id, number, principal: principalOf(actor), size, offset };
  const [[subject], rows, repoRows, [counted], [elsewhere] = []] = await db.batch([
    ...linkedPage(db, list, side),
    ...(ctx.openShards().size > 0 ? [blockedElsewhere(db, { repoId: repo.row.id, number })] : []),
  ]);
  if (!subject || !isIssueVisible(repo, subject)) throw notFound("issue does not exist");
  if (elsewhere) return listBlockersAcrossShards(ctx, elsewhere, { size, offset });
  const repos = toRepositoriesById(actor, repoRows);
  const items = rows.map((row) => {
    const found = repos.get(row.issue.repoId);
    const isSeen = found && isAllowed(found, TO_SEE) && isIssueVisible(found, row.issue);
    return isSeen ? toIssueContext(found, row) : undefined;
  });
  return { items, total: counted?.total ?? 0 };
}

const subjectNumbered = prepare((db, p: Params<{ repoId: number; number: number }>) =>
  db
    .select({ id: issues.id, repoId: issues.repoId, isPull: issues.isPull })
    .from(issues)
    .where(isNumbered(p.repoId, p.number)),
);

/** Selects an issue if it waits for some of other databases. */
const blockedElsewhere = prepare((db, p: Params<{ repoId: number; number: number }>) =>
  db
    .select({ id: issues.id, repoId: issues.repoId })
    .from(issues)
    .where(
      and(
        isNumbered(p.repoId, p.number),
        sql`exists (
          select 1 from ${crossShardDependencies} far
          where far.issue_id = ${issues.id} and far.is_checked
        )`,
      ),
    ),
);

/** Whether the issues are listed for which one waits, or those that wait for it. */
type Side = "blockers" | "waiting";

interface LinkedList extends Slice {
  readonly repoId: number;
  readonly number: number;
  readonly principal: Principal;
}

const linkedPage = prepareAll((db, list: Params<LinkedList>, side: Side) => {
  const { repoId, number, principal, size, offset } = list;
  const { blockerId, issueId } = issueDependencies;
  const [listedId, subjectId] = side === "blockers" ? [blockerId, issueId] : [issueId, blockerId];
  const idOfSubject = sql`(
    select subject.id
    from ${issues} subject
    where subject.repo_id = ${repoId} and subject.number = ${number}
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
  return [
    db.select({ isPull: issues.isPull }).from(issues).where(isNumbered(repoId, number)),
    ...selectLinked(db, linked, { principal, repoId, size, offset }),
  ] as const;
});
