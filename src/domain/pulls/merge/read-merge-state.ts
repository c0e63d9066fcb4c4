import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  issues,
  MERGE_STYLES,
  type MergeStyle,
  scheduledMerges,
} from "../../../db/schema/index.ts";
import type { MergeQueueEntryContext } from "../../../shapes/pulls/merge-queue.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { loadMergeFactsOf, type MergeFacts } from "../../code/protections/merge-facts.ts";
import { listMergeConditions, type MergeConditions } from "../../code/protections/merge-refusal.ts";
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
  /** The styles that the repository allows, the default first. */
  readonly styles: readonly MergeStyle[];
}

/**
 * Reads whether a pull request can be merged.
 *
 * Cost: one round trip of the database, of three calls; and `checkMergeability` where a branch has
 * moved since it was checked.
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
    styles: styles.toSorted((a, b) => rankOf(a, pullSettings) - rankOf(b, pullSettings)),
  };
}

/** The default style comes first; the others keep their order. */
const rankOf = (
  style: MergeStyle,
  { defaultMergeStyle }: RepositoryContext["row"]["pullSettings"],
): number => (style === defaultMergeStyle ? 0 : 1);

const laterMerges = prepareAll((db, p: Params<{ repoId: number; number: number }>) => ({
  scheduled: db
    .select({ issueId: scheduledMerges.issueId })
    .from(scheduledMerges)
    .innerJoin(issues, eq(issues.id, scheduledMerges.issueId))
    .where(isNumbered(p.repoId, p.number)),
  queued: selectEntries(db, isNumbered(p.repoId, p.number)),
}));
