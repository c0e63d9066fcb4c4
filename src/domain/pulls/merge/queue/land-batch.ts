import { and, eq, inArray, sql } from "drizzle-orm";

import { accountActor } from "../../../../auth/actor.ts";
import type { Ctx } from "../../../../context.ts";
import { mergeQueueEntries, mergeQueues } from "../../../../db/schema/index.ts";
import { NO_NODE } from "../../../../git/walk/commit-graph.ts";
import { isAncestor } from "../../../../git/walk/merge-bases.ts";
import { Failure } from "../../../../lib/failure.ts";
import type { PushedMerge } from "../../../../storage/repository-records.ts";
import { branchRef } from "../../../code/branches/find-branch.ts";
import type { RepositorySnapshot } from "../../../code/git/open-snapshot.ts";
import { updateRefs } from "../../../code/git/update-refs.ts";
import { ProtectedRef } from "../../../code/protections/ref-refusal.ts";
import { findPull } from "../../pull/find-pull.ts";
import { deleteMergedBranch } from "../delete-merged-branch.ts";
import { drop } from "./build-batch.ts";
import { endStatement } from "./leave-queue.ts";
import { openQueueEntry } from "./open-queue-entry.ts";
import type { Progress } from "./progress.ts";
import { batchOf, type OpenQueue, type QueuedPull } from "./queued-pull.ts";
import { failBatch } from "./test-batch.ts";
import {
  selectRepositories,
  toRepositoryContext,
} from "../../../repos/repository/find-repository.ts";
import { callerSql } from "../../../../auth/caller-sql.ts";
import { repositories } from "../../../../db/schema/index.ts";

/** Pull requests that are opened concurrently. */
const OPEN_AT_ONCE = 5;

/**
 * Moves the base to the result of a batch, by one push that merges all its pull requests; or takes
 * those out that may not be merged any more.
 *
 * Exactly the tested commit lands: the base moves from the value on which it was built, or not at
 * all. The push carries the merges, so that they are recorded with it, also if the Worker ends
 * before.
 */
export async function landBatch(ctx: Ctx, open: OpenQueue, tipOid: string): Promise<Progress> {
  const { queue, repo, state } = open;
  const repository = await ctx.git.repository(repo.row).openByBlock(state, ctx.git.budget);
  const { graph } = repository;
  const [tip, result] = [graph.find(tipOid), graph.find(queue.resultOid)];
  const isLanded = tip !== NO_NODE && result !== NO_NODE && isAncestor(graph, result, tip);
  if (isLanded) return settleBatch(ctx, open);
  if (tipOid !== queue.baseOid || result === NO_NODE) {
    await endStatement(ctx, queue);
    return "more";
  }
  const snapshot = { state, repository };
  const unfit = await findUnfit(ctx, open, snapshot);
  if (unfit) return unfit();
  return push(ctx, open, snapshot);
}

/** Finds the first pull request that may not be merged any more, and returns what takes it out. */
async function findUnfit(
  ctx: Ctx,
  open: OpenQueue,
  snapshot: RepositorySnapshot,
): Promise<(() => Promise<Progress>) | undefined> {
  const { graph } = snapshot.repository;
  const { branch } = open.queue;
  const batch = batchOf(open);
  for (let from = 0; from < batch.length; from += OPEN_AT_ONCE) {
    const some = batch.slice(from, from + OPEN_AT_ONCE);
    const opened = await Promise.all(
      some.map(async (queued) => {
        const into = graph.find(queued.entry.builtOnOid);
        return { queued, found: await openQueueEntry(ctx, queued, { branch, into, snapshot }) };
      }),
    );
    for (const { queued, found } of opened) {
      if (found.kind === "unfit") return () => drop(ctx, open, queued, found);
    }
  }
  return undefined;
}

async function push(ctx: Ctx, open: OpenQueue, snapshot: RepositorySnapshot): Promise<Progress> {
  const { queue, repo } = open;
  const batch = batchOf(open);
  const [first] = batch;
  if (!first) throw new Error("a batch without pull requests");
  const as = { ...ctx, actor: accountActor(first.doer) };
  const update = { ref: branchRef(queue.branch), from: queue.baseOid, to: queue.resultOid };
  try {
    await updateRefs(as, repo, snapshot, [update], { cause: "merge", merges: batch.map(toMerge) });
    return "more";
  } catch (error) {
    // A rule that holds for merges too, like one that requires signatures.
    if (error instanceof ProtectedRef) return failBatch(ctx, open, "refused", error.message);
    // Another push was faster: its event, or the schedule, advances the queue again.
    if (error instanceof Failure && error.kind === "conflict") return "waits";
    throw error;
  }
}

const toMerge = ({ entry, doer, number }: QueuedPull): PushedMerge => ({
  number,
  issueId: entry.issueId,
  kind: entry.style,
  commitOid: entry.resultOid,
  baseOid: entry.builtOnOid,
  mergeBaseOid: entry.mergeBaseOid,
  isAutomatic: true,
  mergerId: doer.id,
});

/**
 * Takes the merged pull requests of a batch that has landed out of the queue, and deletes the
 * branches of their heads.
 */
async function settleBatch(ctx: Ctx, open: OpenQueue): Promise<Progress> {
  const { queue, repo } = open;
  const batch = batchOf(open);
  if (batch.some(({ pull }) => pull.mergedAt === null)) {
    // A result that was pushed by hand is no merge of the queue.
    const isOver = queue.deadlineAt !== null && ctx.now >= queue.deadlineAt;
    if (isOver) {
      await endStatement(ctx, queue);
      return "more";
    }
    // The push is not recorded yet.
    await ctx.git.maintainLater(repo.row);
    return "waits";
  }
  const deleting = batch.find(({ entry }) => entry.isBranchDeleted);
  if (deleting) await deleteBranch(ctx, deleting);
  const isSettled = (queued: QueuedPull): boolean =>
    queued === deleting || !queued.entry.isBranchDeleted;
  const settled = batch.filter(isSettled).map(({ entry }) => entry.id);
  const isLast = settled.length === batch.length;
  const isNow = and(
    eq(mergeQueues.id, queue.id),
    eq(mergeQueues.batchNumber, queue.batchNumber),
    eq(mergeQueues.state, "landing"),
  );
  await ctx.db.batch([
    ctx.db.delete(mergeQueueEntries).where(inArray(mergeQueueEntries.id, settled)),
    ctx.db
      .update(mergeQueues)
      .set({
        batchSize: sql`(
          select count(*)
          from ${mergeQueueEntries}
          where ${mergeQueueEntries.queueId} = ${queue.id} and ${mergeQueueEntries.isInBatch}
        )`,
        ...(isLast && { state: "ending" as const }),
      })
      .where(isNow),
  ]);
  return "more";
}

async function deleteBranch(ctx: Ctx, { doer, number, pull }: QueuedPull): Promise<void> {
  const as = { ...ctx, actor: accountActor(doer) };
  const [row] = await selectRepositories(ctx.db, callerSql(as.actor)).where(
    eq(repositories.id, pull.repoId),
  );
  if (!row) return;
  try {
    const repo = toRepositoryContext(as.actor, row);
    await deleteMergedBranch(as, await findPull(as, repo, number));
  } catch (error) {
    // The merge stands whatever becomes of the branch.
    if (!(error instanceof Failure)) throw error;
  }
}
