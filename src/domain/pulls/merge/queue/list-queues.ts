import { and, asc, count, eq, isNull, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { allOf, columnsOf, type Database, qualified } from "../../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../../db/prepared.ts";
import {
  issues,
  type MergeQueue,
  mergeQueueEntries,
  mergeQueues,
  pulls,
  users,
} from "../../../../db/schema/index.ts";
import { notFound } from "../../../../lib/failure.ts";
import type {
  MergeQueueContext,
  MergeQueueEntryContext,
} from "../../../../shapes/pulls/merge-queue.ts";
import type { PullContext } from "../../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { rulesOfBranch } from "../../../code/protections/match-rule.ts";
import { mergeQueueOf } from "../../../code/protections/merge-queue-rule.ts";
import { loadRules } from "../../../code/protections/select-rules.ts";
import { type Listed, type Slice, toListedPage } from "../../../slice.ts";

/**
 * Selects pull requests in queues, with their position from 1. Those that are merged are about to
 * go.
 */
export const selectEntries = (db: Database, condition: SQL) =>
  db
    .select({
      entry: columnsOf(mergeQueueEntries, "entry"),
      queue: columnsOf(mergeQueues, "queue"),
      doer: columnsOf(users, "doer"),
      number: issues.number,
      position: sql<number>`(
        select count(*)
        from ${mergeQueueEntries} other
        join ${pulls} other_pull on other_pull.issue_id = other.issue_id
        where other.queue_id = ${mergeQueueEntries.queueId}
          and other.id <= ${mergeQueueEntries.id}
          and other_pull.merged_at is null
      )`.as("position"),
    })
    .from(mergeQueueEntries)
    .innerJoin(mergeQueues, eq(mergeQueues.id, mergeQueueEntries.queueId))
    .innerJoin(users, eq(users.id, mergeQueueEntries.doerId))
    .innerJoin(pulls, eq(pulls.issueId, mergeQueueEntries.issueId))
    .innerJoin(issues, eq(issues.id, mergeQueueEntries.issueId))
    .where(and(condition, isNull(pulls.mergedAt)))
    .orderBy(asc(mergeQueueEntries.id))
    .$dynamic();

/**
 * Finds the place of a pull request in its merge queue.
 *
 * @throws Failure `not_found` if it is in none.
 */
export async function findQueueEntry(
  ctx: Ctx,
  { row }: PullContext,
): Promise<MergeQueueEntryContext> {
  const [found] = await entryOfIssue(ctx.db, { issueId: row.id });
  if (!found) throw notFound("the pull request is in no merge queue");
  return found;
}

const entryOfIssue = prepare((db, { issueId }: Params<{ issueId: number }>) =>
  selectEntries(db, eq(mergeQueueEntries.issueId, issueId)).limit(1),
);

/** The number of pull requests in a queue. */
const lengthOf = qualified<number>(sql`(
  select count(*)
  from ${mergeQueueEntries} other
  join ${pulls} other_pull on other_pull.issue_id = other.issue_id
  where other.queue_id = ${mergeQueues.id} and other_pull.merged_at is null
)`).as("queue_length");

/**
 * Lists the merge queues of a repository in which there is something, by branch.
 *
 * Cost: one round trip.
 */
export async function listQueues(
  { db }: Ctx,
  { row }: RepositoryContext,
  { size, offset }: Slice,
): Promise<Listed<MergeQueueContext>> {
  return toListedPage(await batch(db, queuePage(db, { repoId: row.id, size, offset })));
}

const queuePage = prepareAll((db, { repoId, size, offset }: Params<Slice & { repoId: number }>) => {
  const isOfThis = eq(mergeQueues.repoId, repoId);
  return {
    counted: db
      .select({ total: count().as("total") })
      .from(mergeQueues)
      .where(isOfThis),
    rows: selectQueues(db)
      .where(isOfThis)
      .orderBy(asc(mergeQueues.branch))
      .limit(size)
      .offset(offset),
  };
});

const selectQueues = (db: Database) =>
  db
    .select({ queue: columnsOf(mergeQueues, "queue"), length: lengthOf })
    .from(mergeQueues)
    .$dynamic();

/** A merge queue with a page of its pull requests, first to last. */
export interface QueuePage {
  readonly context: MergeQueueContext;
  readonly entries: Listed<MergeQueueEntryContext>;
}

/**
 * Reads the merge queue of a branch with a page of its pull requests.
 *
 * Cost: one round trip, and one more for an empty queue.
 *
 * @throws Failure `not_found` if the branch has no merge queue.
 */
export async function readQueue(
  ctx: Ctx,
  repo: RepositoryContext,
  branch: string,
  { size, offset }: Slice,
): Promise<QueuePage> {
  const args = { repoId: repo.row.id, branch, size, offset };
  const {
    queues: [found],
    entries: items,
  } = await batch(ctx.db, queueOfBranch(ctx.db, args));
  if (found) return { context: found, entries: { items, total: found.length } };
  const rules = rulesOfBranch(await loadRules(ctx, repo), branch, ctx.git.budget);
  if (!mergeQueueOf(rules)) throw notFound("the branch has no merge queue");
  const queue: MergeQueue = { ...EMPTY, repoId: repo.row.id, branch };
  return { context: { queue, length: 0 }, entries: { items: [], total: 0 } };
}

const queueOfBranch = prepareAll((db, p: Params<Slice & { repoId: number; branch: string }>) => {
  const isThis = allOf(eq(mergeQueues.repoId, p.repoId), eq(mergeQueues.branch, p.branch));
  return {
    queues: selectQueues(db).where(isThis),
    entries: selectEntries(db, isThis).limit(p.size).offset(p.offset),
  };
});

const EMPTY: Omit<MergeQueue, "repoId" | "branch"> = {
  id: 0,
  state: "idle",
  batchNumber: 0,
  batchSize: 0,
  baseOid: "",
  resultOid: "",
  deadlineAt: null,
  dueAt: 0,
  createdAt: 0,
};
