import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { isViolation } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issues, trackedTimes } from "../../db/schema/index.ts";
import { Failure } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { changeState } from "../issues/change-state.ts";
import { isIssueWritable, selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { insertEntry } from "../issues/insert-entry.ts";
import { mayEditIssue } from "../issues/require-issue-access.ts";
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
 * Whether the reference does something: a keyword in a commit of the right branch, by somebody who may close the issue,
 * which is the poster or who writes to the issues there.
 *
 * The right branch is the one that the issue names, otherwise the default branch. Pull requests are not closed by commits.
 */
export function isActed(ctx: Ctx, { repo, branch, reference, referred }: CommitAct): boolean {
  const { row } = referred;
  if (reference.action === "none" || row.isPull) return false;
  const named = row.ref.startsWith("refs/tags/") ? "" : row.ref.replace(/^refs\/heads\//, "");
  const wanted = `refs/heads/${named || repo.row.defaultBranch}`;
  return branch === wanted && mayEditIssue(ctx, referred);
}

/**
 * Closes or reopens the issue and books time on it. Does nothing that the commit has done before, and leaves an issue
 * open that waits for others.
 */
export async function actByCommit(ctx: Ctx, act: CommitAct): Promise<void> {
  const { commit, reference, referred } = act;
  const isClosed = reference.action === "closes";
  if (isClosed && reference.seconds > 0) await bookTime(ctx, act);
  const [found] = await selectIssues(ctx.db).where(eq(issues.id, referred.row.id));
  if (!found) return;
  try {
    const issue = toIssueContext(referred.repo, found);
    await changeState(ctx, issue, isClosed, { commitOid: commit.oid });
  } catch (error) {
    if (!isDoneBefore(error) && !isRefused(error)) throw error;
  }
}

const isDoneBefore = (error: unknown): boolean =>
  isViolation(error, "UNIQUE", "timeline_entries.commit_oid");

/** Open blockers, or deleted meanwhile. */
const isRefused = (error: unknown): boolean => error instanceof Failure;

/** Books the time that the commit states, where the repository tracks time and the caller may book some. */
async function bookTime(ctx: Ctx, { commit, reference, referred }: CommitAct): Promise<void> {
  const { db, actor, now } = ctx;
  const { id: issueId, repoId } = referred.row;
  const { enableTimeTracker, allowOnlyContributorsToTrackTime } = referred.repo.row.issueSettings;
  const mayBook = !allowOnlyContributorsToTrackTime || isIssueWritable(referred);
  if (!enableTimeTracker || !mayBook || !actor.user) return;
  const { seconds } = reference;
  try {
    await db.batch([
      insertSelect(
        db,
        trackedTimes,
        { repoId, issueId, userId: actor.user.id, seconds, createdAt: now, bookedAt: now },
        sql`where true`,
      ),
      insertEntry(ctx, {
        kind: "add_time_manual",
        repoId,
        issueId,
        body: `|${seconds}`,
        timeId: sql`last_insert_rowid()`,
        commitOid: commit.oid,
      }),
    ]);
  } catch (error) {
    const isGone = isViolation(error, "FOREIGN KEY");
    if (!isDoneBefore(error) && !isGone) throw error;
  }
}
