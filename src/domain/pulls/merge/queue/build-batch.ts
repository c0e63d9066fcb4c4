import { and, eq, gte, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { mergeQueueEntries, mergeQueues } from "../../../../db/schema/index.ts";
import { GitError } from "../../../../git/error.ts";
import type { BuiltMerge } from "../../../../git/merge/build-merge.ts";
import { NO_NODE } from "../../../../git/walk/commit-graph.ts";
import { accountActor } from "../../../../auth/actor.ts";
import { branchRef } from "../../../code/branches/find-branch.ts";
import { commitChange } from "../../../code/git/commit-change.ts";
import { findRef, type RepositorySnapshot } from "../../../code/git/open-snapshot.ts";
import { hasRefClash } from "../../../code/git/ref-clash.ts";
import { updateRefs } from "../../../code/git/update-refs.ts";
import { type MergeQueueRule, resultBranchOf } from "../../../code/protections/merge-queue-rule.ts";
import { queueRefOf } from "../../pull/open-pull.ts";
import { storeRefsOnce } from "../../sync/store-refs.ts";
import { buildPullMerge } from "../merge-pull.ts";
import { endStatement, leaveStatements, type Departure } from "./leave-queue.ts";
import { openQueueEntry } from "./open-queue-entry.ts";
import type { Progress } from "./progress.ts";
import { batchOf, type OpenQueue, type QueuedPull, RETRY_MS } from "./queued-pull.ts";

/**
 * How often the schedule advances a batch whose checks run, in milliseconds: a changed rule has no
 * event.
 */
const LOOK_MS = 10 * 60 * 1000;

/**
 * Merges the next pull request of a batch into the result of those before it; behind the last one
 * the result gets its branch.
 *
 * Each result is kept by `refs/pull/N/queue`, and used again as long as the commit below it stays
 * the same: the first half of a batch that failed is built already.
 */
export async function buildBatch(
  ctx: Ctx,
  open: OpenQueue,
  rule: MergeQueueRule,
): Promise<Progress> {
  const { queue, repo, state } = open;
  const batch = batchOf(open);
  const repository = await ctx.git.repository(repo.row).openByBlock(state, ctx.git.budget);
  const snapshot = { state, repository };
  let intoOid = queue.baseOid;
  for (const [at, queued] of batch.entries()) {
    const { builtOnOid, resultOid } = queued.entry;
    const isBuilt = builtOnOid === intoOid && repository.graph.find(resultOid) !== NO_NODE;
    if (!isBuilt) return buildEntry(ctx, open, snapshot, { queued, at, intoOid });
    intoOid = resultOid;
  }
  return rule.checks.length === 0
    ? finish(ctx, open, "landing", intoOid, ctx.now + LOOK_MS)
    : test(ctx, open, snapshot, intoOid, rule);
}

/** A pull request of a batch, by its index, and the commit that it is merged into. */
interface Place {
  readonly queued: QueuedPull;
  readonly at: number;
  readonly intoOid: string;
}

async function buildEntry(
  ctx: Ctx,
  open: OpenQueue,
  snapshot: RepositorySnapshot,
  { queued, at, intoOid }: Place,
): Promise<Progress> {
  const { queue } = open;
  const { entry, doer } = queued;
  const into = snapshot.repository.graph.find(intoOid);
  if (into === NO_NODE) {
    await endStatement(ctx, queue);
    return "more";
  }
  const found = await openQueueEntry(ctx, queued, { branch: queue.branch, into, snapshot });
  if (found.kind === "unfit") return drop(ctx, open, queued, found);
  const { as, pull, head, mergeBase } = found;
  const built = await buildOrFail(() =>
    buildPullMerge(as, pull, doer, { snapshot, head, base: into, mergeBase }, entry),
  );
  if (built.kind !== "built") {
    // Perhaps because of those before it, which may still turn out to fail.
    return at > 0
      ? cutBatch(ctx, open, queued, at)
      : drop(ctx, open, queued, { reason: REASONS[built.kind] });
  }
  const { tipOid, objects } = built;
  const ref = queueRefOf(queued.number);
  const request = { ref, to: tipOid };
  const cause = "service";
  await storeRefsOnce(as, open.repo, [request], async () => {
    if (objects.length === 0) {
      const from = findRef(snapshot, ref)?.oid;
      const updates = from === tipOid ? [] : [{ ...request, ...(from !== undefined && { from }) }];
      if (updates.length > 0) await updateRefs(as, open.repo, snapshot, updates, { cause });
      return;
    }
    await commitChange(
      as,
      open.repo,
      ({ snapshot: current, pack }) => {
        for (const { kind, content } of objects) pack.add(kind, content);
        const from = findRef(current, ref)?.oid;
        return Promise.resolve({ updates: [{ ...request, ...(from !== undefined && { from }) }] });
      },
      // The results before this one are reached by the refs of their pull requests only.
      { cause, pulls: batchOf(open).map(({ number }) => number) },
    );
  });
  const { graph } = snapshot.repository;
  const mergeBaseOid = mergeBase === undefined ? "" : graph.oid(mergeBase);
  await ctx.db
    .update(mergeQueueEntries)
    .set({ builtOnOid: intoOid, resultOid: tipOid, mergeBaseOid })
    .where(eq(mergeQueueEntries.id, entry.id));
  return "more";
}

type Unbuilt = Exclude<BuiltMerge, { kind: "built" }>["kind"] | "too_large";

const REASONS: Readonly<Record<Unbuilt, Departure["reason"]>> = {
  conflicts: "conflict",
  diverged: "conflict",
  unrelated: "conflict",
  unchanged: "unchanged",
  too_large: "too_large",
};

async function buildOrFail(
  build: () => Promise<BuiltMerge>,
): Promise<BuiltMerge | { readonly kind: "too_large" }> {
  try {
    return await build();
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== "limit") throw error;
    return { kind: "too_large" };
  }
}

/** Takes a pull request out of the queue, which ends the batch. */
export async function drop(
  ctx: Ctx,
  { queue, repo }: OpenQueue,
  { entry, number }: QueuedPull,
  departure: Departure,
): Promise<Progress> {
  await ctx.db.batch(leaveStatements(ctx, { queue, repo: repo.row, entry, number }, departure));
  return "more";
}

/** Leaves a pull request and those behind it to a later batch. */
async function cutBatch(
  ctx: Ctx,
  { queue }: OpenQueue,
  { entry }: QueuedPull,
  size: number,
): Promise<Progress> {
  await ctx.db.batch([
    ctx.db
      .update(mergeQueues)
      .set({ batchSize: size, dueAt: ctx.now + RETRY_MS })
      .where(
        and(
          eq(mergeQueues.id, queue.id),
          eq(mergeQueues.state, "building"),
          eq(mergeQueues.batchNumber, queue.batchNumber),
        ),
      ),
    ctx.db
      .update(mergeQueueEntries)
      .set({ isInBatch: false })
      .where(
        and(
          eq(mergeQueueEntries.queueId, queue.id),
          gte(mergeQueueEntries.id, entry.id),
          sql`changes() > 0`,
        ),
      ),
  ]);
  return "more";
}

/** Gives the result its branch, on which CI runs its checks. */
async function test(
  ctx: Ctx,
  open: OpenQueue,
  snapshot: RepositorySnapshot,
  resultOid: string,
  { waitMs }: MergeQueueRule,
): Promise<Progress> {
  const { queue, repo } = open;
  const [first] = batchOf(open);
  if (!first) throw new Error("a batch without pull requests");
  const ref = branchRef(resultBranchOf(queue.branch, resultOid));
  if (findRef(snapshot, ref)?.oid !== resultOid) {
    const update = { ref, to: resultOid };
    if (findRef(snapshot, ref) || hasRefClash(snapshot, ref)) {
      return drop(ctx, open, first, { reason: "branch_refused" });
    }
    const as = { ...ctx, actor: accountActor(first.doer) };
    await storeRefsOnce(as, repo, [update], () =>
      updateRefs(as, repo, snapshot, [update], { cause: "service" }),
    );
  }
  return finish(ctx, open, "testing", resultOid, ctx.now + waitMs);
}

async function finish(
  ctx: Ctx,
  { queue }: OpenQueue,
  state: "testing" | "landing",
  resultOid: string,
  deadlineAt: number,
): Promise<Progress> {
  const dueAt = state === "landing" ? ctx.now + RETRY_MS : Math.min(deadlineAt, ctx.now + LOOK_MS);
  await ctx.db
    .update(mergeQueues)
    .set({ state, resultOid, deadlineAt, dueAt })
    .where(
      and(
        eq(mergeQueues.id, queue.id),
        eq(mergeQueues.state, "building"),
        eq(mergeQueues.batchNumber, queue.batchNumber),
        eq(mergeQueues.batchSize, queue.batchSize),
      ),
    );
  return "more";
}
