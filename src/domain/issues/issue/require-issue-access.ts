import { modeOf, requireAccess } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { ACCESS } from "../../../db/schema/index.ts";
import { Failure, forbidden } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueWritable, unitOf } from "./find-issue.ts";

/**
 * Refuses changes of an archived repository.
 *
 * @throws Failure `locked`.
 */
export function requireNotArchived({ row, owner }: RepositoryContext): void {
  if (row.archivedAt !== null) {
    throw new Failure("locked", `${owner.name}/${row.name} is archived`);
  }
}

/** Whether the caller may write to the issues of a repository. */
export const mayWriteIssues = (repo: RepositoryContext): boolean =>
  modeOf(repo, "issues") >= ACCESS.write;

/** Whether the caller may write to the pull requests of a repository. */
export const mayWritePulls = (repo: RepositoryContext): boolean =>
  modeOf(repo, "pulls") >= ACCESS.write;

/**
 * Refuses callers who may not write to the unit of an issue or pull request.
 *
 * @throws Failure `not_found` or `forbidden`; `locked` in an archived repository.
 */
export function requireIssueWrite({ repo, row }: IssueContext): void {
  requireAccess(repo, { unit: unitOf(row), mode: "write" });
  requireNotArchived(repo);
}

/**
 * Whether the caller may change the text and the state of an issue or pull request that the caller
 * sees: the poster, and those who may write to its unit. Nobody may while the unit is switched off.
 */
export const mayEditIssue = (ctx: Ctx, issue: Pick<IssueContext, "repo" | "row">): boolean =>
  isIssueWritable(issue) ||
  (isUnitOn(issue.repo.row, unitOf(issue.row)) &&
    issue.row.posterId !== null &&
    issue.row.posterId === ctx.actor.user?.id);

/**
 * Refuses callers for whom `mayEditIssue` does not hold.
 *
 * @throws Failure `forbidden`; `locked` in an archived repository.
 */
export function requireIssueEdit(ctx: Ctx, issue: IssueContext): void {
  if (!mayEditIssue(ctx, issue)) {
    throw forbidden("only the poster and those with write access may change this");
  }
  requireNotArchived(issue.repo);
}
