import { desc, eq, isNotNull, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  issues,
  MERGE_STYLES,
  type MergeStyle,
  pulls,
  scheduledMerges,
} from "../../../db/schema/index.ts";
import type { MergeQueueEntryContext } from "../../../shapes/pulls/merge-queue.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { loadMergeFactsOf, type MergeFacts } from "../../code/protections/merge-facts.ts";
import { listMergeConditions, type MergeConditions } from "../../code/protections/merge-refusal.ts";
import { rulesOfBranch } from "../../code/protections/match-rule.ts";
import { loadRules } from "../../code/protections/select-rules.ts";
import { isNumbered } from "../../issues/issue/find-issue.ts";
import { checkMergeability } from "../pull/check-mergeability.ts";
import { findPull } from "../pull/find-pull.ts";
import { selectEntries } from "./queue/list-queues.ts";
import { isStyleAllowed } from "./require-mergeable.ts";

/** Whether and how a pull request can be merged, as its page says. */
export interface PullMergeState extends MergeConditions {
  readonly pull: PullContext;
  /** Whether it waits for an open issue or pull request. */
  readonly isBlocked: boolean;
  /** The latest status of each context of its head. */
  readonly statuses: MergeFacts["statuses"];
  /** Its place in the merge queue of its base; undefined if it is not in the queue. */
  readonly queued: MergeQueueEntryContext | undefined;
  /** Whether its merge is scheduled for when nothing is missing. */
  readonly isScheduled: boolean;
  /** Whether its branch has what was merged, and no rule keeps it. */
  readonly isHeadDeletable: boolean;
  /** The number of the pull request that reverts it, unless that was closed. */
  readonly revertNumber: number | undefined;
  /** The styles that the repository allows, the default first. */
  readonly styles: readonly MergeStyle[];
}

/**
 * Reads whether a pull request can be merged.
 *
 * Cost: one round trip of the database, of three calls; and `checkMergeability` where a branch has
 * moved since it was checked. Of a merged one whose branch is in a fork, the rules of that.
 *
 * @throws Failure `not_found`.
 */
export async function readMergeState(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
): Promise<PullMergeState> {
  const [found, facts, waiting] = await Promise.all([
    findPull(ctx, repo, number),
    loadMergeFactsOf(ctx, repo, number),
    batch(ctx.db, laterMerges(ctx.db, { repoId: repo.row.id, number })),
  ]);
  const pull = await checkMergeability(ctx, found);
  const { pullSettings } = repo.row;
  const styles = MERGE_STYLES.filter((style) => isStyleAllowed(repo, style));
  return {
    pull,
    isBlocked: facts.isBlocked,
    statuses: facts.statuses,
    ...listMergeConditions(ctx, pull, facts),
    queued: waiting.queued[0],
    isScheduled: waiting.scheduled.length > 0,
    isHeadDeletable: await isHeadDeletable(ctx, pull, facts.rules),
    revertNumber: pull.pull.mergedAt === null ? undefined : waiting.reverts[0]?.number,
    styles: styles.toSorted((a, b) => rankOf(a, pullSettings) - rankOf(b, pullSettings)),
  };
}

/** @param rules Those of the repository of its base. */
async function isHeadDeletable(
  ctx: Ctx,
  { repo, headRepo, headTip, pull }: PullContext,
  rules: RepositoryRules,
): Promise<boolean> {
  const { headBranch, headOid, mergedAt } = pull;
  if (!headRepo || mergedAt === null || headTip !== headOid) return false;
  if (headBranch === headRepo.row.defaultBranch) return false;
  const ofHead = headRepo.row.id === repo.row.id ? rules : await loadRules(ctx, headRepo);
  // Each rule forbids the deletion.
  return rulesOfBranch(ofHead, headBranch, ctx.git.budget).length === 0;
}

/** The default style comes first; the others keep their order. */
const rankOf = (
  style: MergeStyle,
  { defaultMergeStyle }: RepositoryContext["row"]["pullSettings"],
): number => (style === defaultMergeStyle ? 0 : 1);

const revert = alias(issues, "revert");
const reverted = alias(pulls, "reverted");

const laterMerges = prepareAll((db, p: Params<{ repoId: number; number: number }>) => ({
  scheduled: db
    .select({ issueId: scheduledMerges.issueId })
    .from(scheduledMerges)
    .innerJoin(issues, eq(issues.id, scheduledMerges.issueId))
    .where(isNumbered(p.repoId, p.number)),
  queued: selectEntries(db, isNumbered(p.repoId, p.number)),
  // By the branch that `revertPull` makes.
  reverts: db
    .select({ number: revert.number })
    .from(pulls)
    .innerJoin(revert, eq(revert.id, pulls.issueId))
    .where(
      allOf(
        eq(pulls.headRepoId, p.repoId),
        sql`${pulls.headBranch} = (
          select 'revert-' || ${issues.number} || '-' || ${reverted.headBranch}
          from ${issues} join ${pulls} ${reverted} on ${reverted.issueId} = ${issues.id}
          where ${isNumbered(p.repoId, p.number)}
        )`,
        eq(pulls.repoId, p.repoId),
        or(eq(pulls.isClosed, false), isNotNull(pulls.mergedAt)),
      ),
    )
    .orderBy(desc(pulls.issueId))
    .limit(1),
}));
