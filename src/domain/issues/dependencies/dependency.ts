import { requireNotArchived } from "../issue/require-issue-access.ts";
import { isIssueWritable } from "../issue/find-issue.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** An issue or pull request that waits for another one, which blocks it. */
export interface Dependency {
  readonly blocked: IssueContext;
  readonly blocker: IssueContext;
}

/** @throws Failure `not_found` in a repository where nothing depends on anything. */
export function requireDependenciesOn({ row }: RepositoryContext): void {
  if (!row.issueSettings.enableIssueDependencies) throw notFound("dependencies are disabled");
}

/**
 * Asserts that the caller may change what the blocked issue waits for.
 *
 * @throws Failure `not_found` also for those who may only read it, as in Gitea; `locked` in an
 *   archived repository.
 */
export function requireDependencyWrite({ blocked }: Dependency): void {
  requireDependenciesOn(blocked.repo);
  if (!isIssueWritable(blocked)) throw notFound();
  requireNotArchived(blocked.repo);
}
