import { and, eq, isNull, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { insertSelect } from "../../../../db/insert-select.ts";
import {
  mergeQueueEntries,
  mergeQueues,
  type MergeStyle,
  pulls,
  scheduledMerges,
  type User,
} from "../../../../db/schema/index.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import type { Oid } from "../../../../git/oid.ts";
import { conflict, notApplicable } from "../../../../lib/failure.ts";
import type { PullContext } from "../../../../shapes/pulls/pull-request.ts";
import { eventSubject } from "../../../issues/issue/event-subject.ts";
import { insertEntryIfChanged } from "../../../issues/issue/insert-entry.ts";
import { rulesOfBranch } from "../../../code/protections/match-rule.ts";
import { loadMergeFacts } from "../../../code/protections/merge-facts.ts";
import { findMergeRefusal } from "../../../code/protections/merge-refusal.ts";
import { mergeQueueOf } from "../../../code/protections/merge-queue-rule.ts";

import { catchUp, isBehind } from "../../sync/catch-up.ts";
import {
  notYetMergeable,
  requireMerger,
  requireReady,
  requireStyle,
} from "../require-mergeable.ts";
import { requireInReach, type ScheduledMergeOptions } from "../schedule-merge.ts";
import { RETRY_MS } from "./queued-pull.ts";

/** Maximum pull requests in a queue. */
const QUEUE_MAX = 1000;

/** The options of a merge by the queue. */
export interface QueueOptions extends Omit<ScheduledMergeOptions, "style"> {
  /** By default the queue's, or else the repository's. */
  readonly style?: MergeStyle | undefined;
  /** The head that the caller has seen; "" for any. */
  readonly headOid?: Oid | "";
  /** Whether the checks of the head must have succeeded. */
  readonly asksChecks?: boolean;
}

/**
 * Puts a pull request at the end of the merge queue of its base. The event's consequence goes on
 * from there.
 *
 * Requires everything that a merge requires except the checks, which run on the result of the
 * queue. Cancels a scheduled merge.
 *
 * @throws Failure `not_applicable` if the base has no merge queue, for another style than the
 * queue's, and as `mergePull` for what no check changes; `conflict` for another head than the
 * caller's, for one that is queued already, and if the queue is full.
 */
export async function enqueuePull(
  ctx: Ctx,
  found: PullContext,
  user: User,
  { headOid = "", asksChecks = false, style: requestedStyle, ...options }: QueueOptions,
): Promise<void> {
  const { repo } = found;
  requireMerger(found);
  requireInReach(ctx, found);
  const pull = await catchUp(ctx, found);
  if (headOid !== "" && headOid !== pull.pull.headOid) throw conflict("head out of date");
  const facts = await loadMergeFacts(ctx, pull);
  const rule = mergeQueueOf(rulesOfBranch(facts.rules, pull.pull.baseBranch, ctx.git.budget));
  if (!rule) throw notApplicable("the base has no merge queue");
  const style = requestedStyle ?? (rule.style || repo.row.pullSettings.defaultMergeStyle);
  if (rule.style !== "" && style !== rule.style) {
    throw notApplicable(`the merge queue of the base merges by the style ${rule.style}`);
  }
  requireStyle(repo, style);
  requireReady(pull, facts);
  if (isBehind(pull)) throw notYetMergeable();
  const refusal = await findMergeRefusal(ctx, pull, {
    isForced: false,
    facts,
    queue: { asksChecks },
  });
  if (refusal !== undefined) throw notApplicable(refusal);
  await insert(ctx, pull, user, { ...options, style });
}

async function insert(
  ctx: Ctx,
  pull: PullContext,
  user: User,
  options: ScheduledMergeOptions,
): Promise<void> {
  const { db, now } = ctx;
  const { id: issueId, repoId } = pull.row;
  const { baseBranch: branch, headOid } = pull.pull;
  const { isPull: _, ...subject } = eventSubject(pull);
  const isSame = and(
    eq(pulls.issueId, issueId),
    isNull(pulls.mergedAt),
    eq(pulls.isClosed, false),
    eq(pulls.headOid, headOid),
    eq(pulls.baseBranch, branch),
  );
  const isQueue = and(eq(mergeQueues.repoId, repoId), eq(mergeQueues.branch, branch));
  const { inserted, present } = await batch(db, {
    queue: insertSelect(
      db,
      mergeQueues,
      { repoId, branch, dueAt: now + RETRY_MS, createdAt: now },
      sql`from ${pulls} where ${isSame}`,
    ).onConflictDoNothing(),
    inserted: insertSelect(
      db,
      mergeQueueEntries,
      {
        queueId: mergeQueues.id,
        issueId,
        doerId: user.id,
        headOid,
        createdAt: now,
        ...options,
      },
      sql`
        from ${mergeQueues}
        where ${isQueue}
          and exists (select 1 from ${pulls} where ${isSame})
          and ${QUEUE_MAX} > (
            select count(*) from ${mergeQueueEntries} other where other.queue_id = ${mergeQueues.id}
          )`,
    )
      .onConflictDoNothing()
      .returning({ issueId: mergeQueueEntries.issueId }),
    entry: insertEntryIfChanged(ctx, { kind: "pull_enqueued", repoId, issueId }),
    event: recordIfChanged(ctx, { type: "pull.enqueued", ...subject, branch }),
    unscheduled: db
      .delete(scheduledMerges)
      .where(and(eq(scheduledMerges.issueId, issueId), sql`changes() > 0`)),
    present: db
      .select({ issueId: mergeQueueEntries.issueId })
      .from(mergeQueueEntries)
      .where(eq(mergeQueueEntries.issueId, issueId)),
  });
  if (inserted.length > 0) return;
  if (present.length > 0) throw conflict("the pull request is in the merge queue already");
  throw conflict(
    `the pull request has changed, or the merge queue has ${QUEUE_MAX} pull requests already`,
  );
}
