import { and, eq, sql } from "drizzle-orm";

import { beyondRefs, pathMatcher, refMatcher } from "../../../auth/access/credential-reach.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  ACCESS,
  pulls,
  type ScheduledMerge,
  scheduledMerges,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { BeyondToken, conflict, forbidden, notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { eventSubject } from "../../issues/issue/event-subject.ts";
import { insertEntryIfChanged } from "../../issues/issue/insert-entry.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { unscheduleStatements } from "../../issues/issue/unschedule-merge.ts";
import { loadMergeFacts } from "../../code/protections/merge-facts.ts";
import { requireMerger, requireReady, requireStyle } from "./require-mergeable.ts";

/** The options of a merge that is made later; an empty title or message gets the default. */
export type ScheduledMergeOptions = Pick<
  ScheduledMerge,
  "style" | "title" | "message" | "isBranchDeleted"
>;

/**
 * Schedules a merge, which waits until the rule of the base allows it. The event's consequence
 * makes it, immediately if nothing is missing.
 *
 * @throws Failure as `mergePull` for what no check changes; `conflict` if a merge is scheduled.
 */
export async function scheduleMerge(
  ctx: Ctx,
  pull: PullContext,
  user: User,
  options: ScheduledMergeOptions,
): Promise<void> {
  requireMerger(pull);
  requireInReach(ctx, pull);
  requireReady(pull, await loadMergeFacts(ctx, pull));
  requireStyle(pull.repo, options.style);
  const { id: issueId, repoId } = pull.row;
  const [inserted] = await ctx.db.batch([
    insertSelect(
      ctx.db,
      scheduledMerges,
      { issueId, repoId, doerId: user.id, createdAt: ctx.now, ...options },
      sql`from ${pulls} where ${and(eq(pulls.issueId, issueId), eq(pulls.isClosed, false))}`,
    )
      .onConflictDoNothing()
      .returning({ issueId: scheduledMerges.issueId }),
    insertEntryIfChanged(ctx, { kind: "pull_scheduled_merge", repoId, issueId }),
    recordIfChanged(ctx, { type: "pull.merge_scheduled", ...subjectOf(pull) }),
  ]);
  if (inserted.length === 0) {
    throw conflict(
      `pull request is already scheduled to auto merge when checks succeed [pull_id: ${issueId}]`,
    );
  }
}

/**
 * Cancels a scheduled merge.
 *
 * @throws Failure `not_found` without one; `forbidden` for callers who neither scheduled it nor
 *   administer the repository.
 */
export async function cancelMerge(ctx: Ctx, pull: PullContext, user: User): Promise<void> {
  const { repo } = pull;
  const { id: issueId } = pull.row;
  const [scheduled] = await ctx.db
    .select()
    .from(scheduledMerges)
    .where(eq(scheduledMerges.issueId, issueId));
  if (!scheduled) throw notFound("no merge is scheduled");
  if (scheduled.doerId !== user.id && repo.permission.mode < ACCESS.admin) {
    throw forbidden("user has no permission to cancel the scheduled auto merge");
  }
  requireNotArchived(repo);
  const isSame = and(
    eq(scheduledMerges.issueId, issueId),
    eq(scheduledMerges.doerId, scheduled.doerId),
  );
  const deletion = ctx.db
    .delete(scheduledMerges)
    .where(isSame)
    .returning({ id: scheduledMerges.issueId });
  const [deleted] = await ctx.db.batch(unscheduleStatements(ctx, pull, deletion));
  // Another request has canceled it meanwhile.
  if (deleted.length === 0) throw notFound("no merge is scheduled");
}

function subjectOf(pull: PullContext) {
  const { isPull: _, ...subject } = eventSubject(pull);
  return subject;
}

/**
 * Refuses tokens that are bound to other refs, or to paths.
 *
 * SECURITY: a merge that is scheduled or queued is made with the rights of the account.
 *
 * @throws BeyondToken
 */
export function requireInReach({ actor, git }: Ctx, { pull }: PullContext): void {
  const ref = encodeText(branchRef(pull.baseBranch));
  if (refMatcher(actor)?.(ref, git.budget) === false) throw beyondRefs();
  if (pathMatcher(actor)) {
    throw new BeyondToken("token-paths", "the token is bound to paths: it schedules no merge");
  }
}
