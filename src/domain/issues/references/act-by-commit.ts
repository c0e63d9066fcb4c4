import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import { issues } from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import { Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { changeState } from "../issue/change-state.ts";
import { selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { mayEditIssue } from "../issue/require-issue-access.ts";
import { bookTime } from "../times/book-time.ts";
import { maySpendTime } from "../times/time-access.ts";
import type { ReferredIssue } from "./find-references.ts";
import type { Referred } from "./find-referred.ts";
import type { ReferringCommit } from "./read-commit-references.ts";

/** A reference of a pushed commit to an issue. */
export interface CommitAct {
  /** The repository of the push. */
  readonly repo: RepositoryContext;
  /** The full name of the branch. */
  readonly branch: string;
  readonly commit: Pick<ReferringCommit, "oid" | "title">;
  readonly reference: ReferredIssue;
  readonly referred: Referred;
}

/**
 * Whether the reference changes the issue: it has a keyword, its commit is on the right branch, and
 * the caller may close the issue, as its poster and writers may.
 *
 * The right branch is the one that the issue names, otherwise the default branch. Pull requests are
 * not closed by commits.
 */
export function isActed(ctx: Ctx, { repo, branch, reference, referred }: CommitAct): boolean {
  const { row } = referred;
  if (reference.action === "none" || row.isPull) return false;
  const named = row.ref.startsWith("refs/tags/") ? "" : row.ref.replace(/^refs\/heads\//, "");
  const rightBranch = `refs/heads/${named || repo.row.defaultBranch}`;
  return branch === rightBranch && mayEditIssue(ctx, referred);
}

/**
 * Books time on the issue, and closes or reopens it. Does nothing that the commit has done before,
 * and leaves an issue open that waits for others.
 */
export async function actByCommit(ctx: Ctx, { commit, reference, referred }: CommitAct) {
  const { user } = ctx.actor;
  const [found] = await selectIssues(ctx.db).where(eq(issues.id, referred.row.id));
  if (!found || !user) return;
  const issue = toIssueContext(referred.repo, found);
  const { oid: commitOid } = commit;
  const isClosed = reference.action === "closes";
  const { seconds } = reference;
  if (isClosed && seconds > 0 && maySpendTime(issue, user)) {
    const time = { user, seconds, doneAt: ctx.now, commitOid };
    await unlessDoneOrRefused(bookTime(ctx, issue, time));
  }
  await unlessDoneOrRefused(changeState(ctx, issue, isClosed, { commitOid }));
}

/**
 * Closes or reopens an issue for a commit, if the caller may. Does nothing that the commit has done
 * before, and leaves an issue open that waits for others.
 */
export async function changeByCommit(
  ctx: Ctx,
  referred: Referred,
  isClosed: boolean,
  commitOid: Oid,
): Promise<void> {
  if (!mayEditIssue(ctx, referred)) return;
  const [found] = await selectIssues(ctx.db).where(eq(issues.id, referred.row.id));
  if (!found) return;
  const issue = toIssueContext(referred.repo, found);
  await unlessDoneOrRefused(changeState(ctx, issue, isClosed, { commitOid }));
}

/** Waits for a change by a commit, which may have been made before, or may be refused by now. */
async function unlessDoneOrRefused(act: Promise<unknown>): Promise<void> {
  try {
    await act;
  } catch (error) {
    const isDone = isViolation(error, "UNIQUE", "timeline_entries.commit_oid");
    if (!isDone && !(error instanceof Failure)) throw error;
  }
}
