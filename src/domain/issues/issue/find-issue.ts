import { asc, eq, sql, type SQL } from "drizzle-orm";

import { modeOf } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { allOf, columnsOf, type Database } from "../../../db/db.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  ACCESS,
  attachments,
  issueAssignees,
  issueLabels,
  issues,
  labels,
  milestones,
  pulls,
  users,
  type Issue,
  type Unit,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * The columns of issues and pull requests with everything that their JSON shows, for `selectIssues`
 * and its like.
 */
export const issueColumns = () => ({
  issue: columnsOf(issues, "i"),
  poster: columnsOf(users, "p"),
  milestone: columnsOf(milestones, "m"),
  // A result of D1 has 100 columns at most.
  pulls: jsonRows(
    pulls,
    sql`from ${pulls} where ${pulls.issueId} = ${issues.id} and ${issues.isPull}`,
    "i_pulls",
  ),
  labels: jsonRows(
    labels,
    sql`
      from ${issueLabels}
      join ${labels} on ${labels.id} = ${issueLabels.labelId}
      where ${issueLabels.issueId} = ${issues.id}
      order by ${labels.name}, ${labels.id}`,
    "i_labels",
  ),
  assignees: jsonRows(
    users,
    sql`
      from ${issueAssignees}
      join ${users} on ${users.id} = ${issueAssignees.userId}
      where ${issueAssignees.issueId} = ${issues.id}
      order by ${issueAssignees.createdAt}, ${issueAssignees}.rowid`,
    "i_assignees",
  ),
  attachments: jsonRows(
    attachments,
    sql`
      from ${attachments}
      where ${attachments.issueId} = ${issues.id}
        and ${attachments.entryId} is null
      order by ${attachments.id}`,
    "i_attachments",
  ),
});

/**
 * Selects issues and pull requests with everything that their JSON shows; one query, any number of
 * rows.
 *
 * The columns of a page's rows are read after its limit only if an index gives the order: a query
 * that sorts should select the ids of its page in a subquery.
 */
export const selectIssues = (db: Database) =>
  db
    .select(issueColumns())
    .from(issues)
    .leftJoin(users, eq(users.id, issues.posterId))
    .leftJoin(milestones, eq(milestones.id, issues.milestoneId))
    .$dynamic();

/** A row of `selectIssues`. */
type IssueQueryRow = Awaited<ReturnType<typeof selectIssues>>[number];

// The left joins return columns of nulls for a deleted account, and without a milestone.
export const toIssueContext = (
  repo: RepositoryContext,
  { issue, poster, milestone, pulls: [pull], ...lists }: IssueQueryRow,
): IssueContext => ({
  repo,
  row: issue,
  poster: issue.posterId === null ? undefined : (poster ?? undefined),
  milestone: issue.milestoneId === null ? undefined : (milestone ?? undefined),
  pull,
  labels: lists.labels,
  assignees: lists.assignees,
  attachments: lists.attachments,
});

/** The issues of rows whose repositories were found, by the ids of these. */
export const toIssueContexts = (
  repos: ReadonlyMap<number, RepositoryContext>,
  rows: readonly IssueQueryRow[],
): IssueContext[] =>
  rows.flatMap((row) => {
    const repo = repos.get(row.issue.repoId);
    return repo ? [toIssueContext(repo, row)] : [];
  });

/** The condition for an issue or pull request by its number. */
export const isNumbered = (repoId: number | SQL, number: number | SQL): SQL =>
  allOf(eq(issues.repoId, repoId), eq(issues.number, number));

/** The unit that an issue or a pull request belongs to. */
export const unitOf = ({ isPull }: Pick<Issue, "isPull">): Unit => (isPull ? "pulls" : "issues");

/** Whether the caller may see an issue or pull request of a repository that the caller may see. */
export const isIssueVisible = (repo: RepositoryContext, issue: Pick<Issue, "isPull">): boolean =>
  modeOf(repo, unitOf(issue)) >= ACCESS.read;

/** Whether the caller may write to the unit of an issue or pull request. */
export const isIssueWritable = ({ repo, row }: Pick<IssueContext, "repo" | "row">): boolean =>
  modeOf(repo, unitOf(row)) >= ACCESS.write;

/**
 * Finds an issue or pull request of a repository by its number.
 *
 * @throws Failure `not_found` also where the caller may not see its unit.
 */
export async function findIssue(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
): Promise<IssueContext> {
  const [row] = await issueByNumber(ctx.db, { repoId: repo.row.id, number });
  if (!row || !isIssueVisible(repo, row.issue)) throw notFound("issue does not exist");
  return toIssueContext(repo, row);
}

export const issueIdById = prepare((db, p: Params<{ id: number }>) =>
  db.select({ id: issues.id }).from(issues).where(eq(issues.id, p.id)),
);

export const issueById = prepare((db, p: Params<{ id: number }>) =>
  selectIssues(db).where(eq(issues.id, p.id)),
);

const issueByNumber = prepare((db, p: Params<{ repoId: number; number: number }>) =>
  selectIssues(db).where(isNumbered(p.repoId, p.number)).orderBy(asc(issues.id)).limit(1),
);
