import { asc, eq, type SQL, sql } from "drizzle-orm";

import { callerSql } from "../../../../auth/caller-sql.ts";
import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { columnsOf } from "../../../../db/db.ts";
import {
  issues,
  type MergeQueue,
  type MergeQueueEntry,
  mergeQueueEntries,
  mergeQueues,
  OWNER_PERMISSION,
  type Pull,
  pulls,
  repositories,
  type User,
  users,
} from "../../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import type { Snapshot } from "../../../../storage/repository-records.ts";
import { branchRef } from "../../../code/branches/find-branch.ts";
import { findRef } from "../../../code/git/open-snapshot.ts";
import { rulesOfBranch } from "../../../code/protections/match-rule.ts";
import { type MergeQueueRule, mergeQueueOf } from "../../../code/protections/merge-queue-rule.ts";
import { selectRules, toRules } from "../../../code/protections/select-rules.ts";
import {
  selectRepositories,
  toRepositoryContext,
} from "../../../repos/repository/find-repository.ts";

/** Maximum pull requests in a batch, and of those that one step looks at. */
const BATCH_MAX = 20;

/**
 * How long the schedule waits before it continues the work of a job that ended early, in
 * milliseconds.
 */
export const RETRY_MS = 2 * 60 * 1000;

/** A pull request in a merge queue. */
export interface QueuedPull {
  readonly entry: MergeQueueEntry;
  readonly doer: User;
  readonly number: number;
  readonly pull: Pull;
}

/** A merge queue with everything that decides about its next step. */
export interface OpenQueue {
  readonly queue: MergeQueue;
  /** With every permission: refs are updated by the service. */
  readonly repo: RepositoryContext;
  /** The first pull requests, in order: those of the batch are among them. */
  readonly entries: readonly QueuedPull[];
  /** Undefined if no rule of the base has a merge queue any more. */
  readonly rule: MergeQueueRule | undefined;
  readonly state: Snapshot;
  /** The present value of the base; undefined if it does not exist. */
  readonly tipOid: string | undefined;
}

/** Selects pull requests in merge queues with who queued them, in order. */
const selectQueued = (ctx: Ctx, condition: SQL, limit: number) =>
  ctx.db
    .select({
      entry: columnsOf(mergeQueueEntries, "entry"),
      doer: columnsOf(users, "doer"),
      pull: columnsOf(pulls, "pull"),
      number: issues.number,
    })
    .from(mergeQueueEntries)
    .innerJoin(users, eq(users.id, mergeQueueEntries.doerId))
    .innerJoin(pulls, eq(pulls.issueId, mergeQueueEntries.issueId))
    .innerJoin(issues, eq(issues.id, mergeQueueEntries.issueId))
    .where(condition)
    .orderBy(asc(mergeQueueEntries.id))
    .limit(limit);

/**
 * Reads a merge queue.
 *
 * Cost: one round trip, and one call of the Durable Object.
 *
 * @returns Undefined if it is gone; "orphaned" if its repository is.
 */
export async function openQueue(
  ctx: Ctx,
  queueId: number,
): Promise<OpenQueue | "orphaned" | undefined> {
  const { db } = ctx;
  const caller = callerSql(ctx.actor);
  const repoId = sql`(select repo_id from ${mergeQueues} where ${mergeQueues.id} = ${queueId})`;
  const ownerId = sql`(select owner_id from ${repositories} where ${repositories.id} = ${repoId})`;
  const found = await batch(db, {
    queues: db.select().from(mergeQueues).where(eq(mergeQueues.id, queueId)),
    repos: selectRepositories(db, caller).where(eq(repositories.id, repoId)),
    rules: selectRules(db, { repoId, ownerId }, caller),
    entries: selectQueued(ctx, eq(mergeQueueEntries.queueId, queueId), BATCH_MAX),
  });
  const [queue] = found.queues;
  const [row] = found.repos;
  if (!queue) return undefined;
  if (!row) return "orphaned";
  const repo = { ...toRepositoryContext(ctx.actor, row), permission: OWNER_PERMISSION };
  const state = await ctx.git.repository(repo.row).snapshot();
  return {
    queue,
    repo,
    entries: found.entries,
    rule: mergeQueueOf(rulesOfBranch(toRules(repo.row, found.rules), queue.branch, ctx.git.budget)),
    state,
    tipOid: findRef({ state }, branchRef(queue.branch))?.oid,
  };
}

/** The pull requests of the batch, in order. */
export const batchOf = ({ entries }: Pick<OpenQueue, "entries">): QueuedPull[] =>
  entries.filter(({ entry }) => entry.isInBatch);
