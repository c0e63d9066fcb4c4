import { AsyncLocalStorage } from "node:async_hooks";

import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { gt, sql } from "drizzle-orm";

import type { Ctx } from "../../../src/context.ts";
import type { D1 } from "../../../src/db/meter.ts";
import { shards } from "../../../src/db/schema/index.ts";
import { relayEvents } from "../../../src/domain/events/relay-events.ts";
import {
  runShardTasks,
  SHARD_TASK_LEASE_MS,
} from "../../../src/domain/shard-tasks/run-shard-tasks.ts";
import { copyFromShards } from "../../../src/domain/shards/copy-from-shards.ts";
import { copyAfterWrites } from "../../../src/domain/shards/copy-now.ts";
import { catchUpShards, copyToShard } from "../../../src/domain/shards/copy-to-shards.ts";
import { systemCtx } from "../system.ts";
import { batchesSoFar, isInQueueConsumer } from "../queue-consumer.ts";
import { RoutedDatabase } from "./routed-database.ts";
import { shardBindings } from "./shard-bindings.ts";

/** The shards of the Worker under test, and how far their copies are. */
interface TestShards {
  /** The first database, and the shards by their numbers. */
  readonly all: readonly D1Database[];
  /** The databases as if they were one. */
  readonly routed: D1;
  /** Brings the shards up to date with what tests wrote in the first database. */
  bringCopies: () => Promise<void>;
  /** Does what the service does after requests: in shards, after changes of the first database, and back. */
  settle: () => Promise<void>;
  /** Notes that a request may write. */
  noteWrite: () => void;
}

declare global {
  /** Of the isolate, which outlives the test files that run in it. */
  var testShards: TestShards | undefined;
}

/** Whether the Worker under test has shards: see EDGEFORGE_TEST_SHARDS in vitest.config.ts. */
export const isSharded = env.TEST_SHARDS > 0;

/** Sets up the shards once. From then on each call of a database comes after the copies of what tests wrote. */
export async function openTestShards(): Promise<TestShards> {
  if (globalThis.testShards) return globalThis.testShards;
  const first = env.WHOLE_DB ?? env.DB;
  const bindings = env.WHOLE_SHARDS ?? shardBindings();
  const all = [first, ...Object.values(bindings)];
  for (const d1 of all.slice(1)) await applyD1Migrations(d1, env.TEST_MIGRATIONS);

  const ctx = (): Ctx => systemCtx({ DB: first, ...bindings }, Date.now());
  while (!(await catchUpShards(ctx())));

  let isWritten = false;
  let copying: Promise<void> | undefined;
  const inCopying = new AsyncLocalStorage<true>();
  const copy = async (): Promise<void> => {
    const deferred: Promise<unknown>[] = [];
    const waiting = { ...ctx(), defer: (work: Promise<unknown>) => void deferred.push(work) };
    await copyAfterWrites(waiting.directory, waiting);
    await Promise.all(deferred);
    // On a busy machine a shard may be too late for a request, and later ones would not wait for it.
    const { directory } = waiting;
    const isAvoided = gt(shards.avoidedUntil, 0);
    const avoided = await directory
      .update(shards)
      .set({ avoidedUntil: 0 })
      .where(isAvoided)
      .returning();
    if (avoided.length === 0) return;
    // Others are shards of tests, which may have no database.
    for (const [id, db] of waiting.openShards()) {
      while (!(await copyToShard(directory, { id, db }, waiting.now)));
    }
  };
  let isUnsettled = true;
  let batches = 0;
  const settle = async (): Promise<void> => {
    if (!isUnsettled && batches === batchesSoFar()) return;
    isUnsettled = false;
    batches = batchesSoFar();
    await waitForTasks(ctx());
    await copyFromShards(ctx());
  };
  const opened: TestShards = {
    all,
    bringCopies: async () => {
      // The consumer has another context of the runtime, in which it cannot await what the test does.
      if (inCopying.getStore() || isInQueueConsumer()) return;
      if (isWritten) {
        isWritten = false;
        copying = inCopying.run(true, copy).finally(() => (copying = undefined));
      }
      await copying;
    },
    settle,
    noteWrite: () => void (isUnsettled = true),
    routed: new RoutedDatabase({
      all,
      onWrite: (number) => {
        isUnsettled = true;
        isWritten ||= number === 0;
      },
      settle,
    }),
  };
  globalThis.testShards = opened;
  return opened;
}

const WAIT_MS = 20;
const WAITS_MAX = 250;

/** Waits until what changes of the first database leave to shards is done, by this or by a job. */
async function waitForTasks(ctx: Ctx): Promise<void> {
  for (let waits = 0; waits < WAITS_MAX; waits++) {
    const [left] = await ctx.directory.all<{ events: number; tasks: number }>(sql`
      select (select count(*) from relayed_events) as events,
        (select count(*) from shard_tasks where due_at <= ${ctx.now + SHARD_TASK_LEASE_MS}) as tasks`);
    if (!left || left.events + left.tasks === 0) return;
    await relayEvents(ctx);
    await runShardTasks(ctx);
    if (waits > 0) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
}

let lastShard = 0;
/** The shard of the next repository of a test; 0 without shards. */
export const nextShard = (): number => (isSharded ? (lastShard++ % env.TEST_SHARDS) + 1 : 0);
