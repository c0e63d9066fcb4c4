import { asc, eq, sql } from "drizzle-orm";
import { expect, it, vi } from "vitest";

import { events, hookDeliveries, hooks, repositories } from "../../../../../src/db/schema/index.ts";
import { deleteHook } from "../../../../../src/domain/exchange/webhooks/hooks/delete-hook.ts";
import type { HookOwner } from "../../../../../src/domain/exchange/webhooks/hooks/hook-owner.ts";
import { redeliverFailed } from "../../../../../src/domain/exchange/webhooks/delivery/redeliver.ts";
import { only } from "../../../../../src/lib/only.ts";
import { db } from "../../../../support/db.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { make } from "../../../../support/make.ts";
import { systemCtx } from "../../../../support/system.ts";

const NOW = Date.now();
const FAR = NOW + 3_600_000;

/**
 * Makes a repository's hook with the given number of failed deliveries; nothing is sent meanwhile.
 */
async function makeHookWith(count: number) {
  const user = await make.user();
  const { id: repoId } = await make.repo(user);
  const repo = only(await db.select().from(repositories).where(eq(repositories.id, repoId)));
  const hookOwner: HookOwner = { level: "repository", repo };
  const at = { level: "repository", repoId, approverId: user.id, leasedUntil: FAR } as const;
  const hook = await makeHook(at);
  const numbers = JSON.stringify(Array.from({ length: count }, (_, index) => index));
  // Negative ids, which no event has.
  const eventId = sql`-${hook.id} * 1000000 - value`;
  await db.run(
    sql`insert into webhook_events (event_id, part, event, repo_id, payload, created_at) select ${eventId}, 0, 'push', ${repoId}, '{}', ${NOW} from json_each(${numbers})`,
  );
  await db.run(
    sql`insert into hook_deliveries (hook_id, webhook_event_id, uuid, event, status, created_at, updated_at) select ${hook.id}, id, 'some-' || id, 'push', 'failed', ${NOW}, ${NOW} from webhook_events where repo_id = ${repoId} order by id`,
  );
  return { hook, hookOwner };
}

/** A context, and the number of statements of each of its batches. */
function countingCtx() {
  const ctx = systemCtx({}, NOW);
  const sizes: number[] = [];
  const batch = ctx.db.batch.bind(ctx.db);
  vi.spyOn(ctx.db, "batch").mockImplementation((statements) => {
    sizes.push(statements.length);
    return batch(statements);
  });
  return { ctx, sizes };
}

const hookOf = async (id: number) => (await db.select().from(hooks).where(eq(hooks.id, id)))[0];
const statusesOf = async (hookId: number) => {
  const rows = await db
    .select({ status: hookDeliveries.status })
    .from(hookDeliveries)
    .where(eq(hookDeliveries.hookId, hookId))
    .orderBy(asc(hookDeliveries.id));
  return rows.map(({ status }) => status);
};
const deletionsOf = async (hookId: number) =>
  db
    .select({ type: events.type })
    .from(events)
    .where(sql`${events.type} = 'hook.deleted' and ${events.payload} ->> 'hookId' = ${hookId}`);

it("one request redelivers many failed deliveries, newest first", async () => {
  const { hook, hookOwner } = await makeHookWith(1200);
  const { ctx, sizes } = countingCtx();

  expect(await redeliverFailed(ctx, hookOwner, hook.id, 0, 1000)).toBe(1000);
  // Two statements read, then two requeue and two record the event.
  expect(sizes).toEqual([2, 4]);
  const failed = Array.from({ length: 200 }, () => "failed");
  expect(await statusesOf(hook.id)).toEqual([
    ...failed,
    ...Array.from({ length: 1000 }, () => "pending"),
  ]);
  expect(await redeliverFailed(ctx, hookOwner, hook.id, 0, 1000)).toBe(200);
  expect(await redeliverFailed(ctx, hookOwner, hook.id, 0, 1000)).toBe(0);
});

it("a hook with few deliveries is deleted in one batch", async () => {
  const { hook, hookOwner } = await makeHookWith(3);
  const { ctx, sizes } = countingCtx();

  await deleteHook(ctx, hookOwner, hook.id, 3);

  expect(sizes).toHaveLength(1);
  expect(await hookOf(hook.id)).toBeUndefined();
  expect(await statusesOf(hook.id)).toEqual([]);
  expect(await deletionsOf(hook.id)).toHaveLength(1);
});

it("a hook with many deliveries is deactivated, and deleted after batches of its deliveries", async () => {
  const { hook, hookOwner } = await makeHookWith(8);
  const ctx = systemCtx({}, NOW);
  const batch = ctx.db.batch.bind(ctx.db);
  const states: unknown[] = [];
  vi.spyOn(ctx.db, "batch").mockImplementation(async (statements) => {
    const results = await batch(statements);
    const { isActive, leasedUntil } = (await hookOf(hook.id)) ?? {};
    const deletions = await deletionsOf(hook.id);
    const left = await statusesOf(hook.id);
    states.push([left.length, isActive, leasedUntil !== FAR, deletions.length]);
    return results;
  });

  await deleteHook(ctx, hookOwner, hook.id, 3);

  expect(states).toEqual([
    [5, false, true, 0],
    [2, false, true, 0],
    [0, undefined, true, 1],
  ]);
});

it("a hook with too many deliveries for one request is deleted by the next", async () => {
  const { hook, hookOwner } = await makeHookWith(23);
  const { ctx, sizes } = countingCtx();

  await expect(deleteHook(ctx, hookOwner, hook.id, 1)).rejects.toMatchObject({ kind: "conflict" });
  expect(sizes).toHaveLength(21);
  expect(await hookOf(hook.id)).toMatchObject({ isActive: false });
  expect(await statusesOf(hook.id)).toHaveLength(2);
  expect(await deletionsOf(hook.id)).toEqual([]);

  await deleteHook(ctx, hookOwner, hook.id, 1);
  expect(await hookOf(hook.id)).toBeUndefined();
  expect(await deletionsOf(hook.id)).toHaveLength(1);
});

// SECURITY: an id is only valid together with its owner.
it("a hook with many deliveries is not affected by another owner's request", async () => {
  const { hook } = await makeHookWith(3);
  const { hookOwner: otherOwner } = await makeHookWith(0);

  const deleting = deleteHook(systemCtx({}, NOW), otherOwner, hook.id, 1);

  await expect(deleting).rejects.toMatchObject({ kind: "not_found" });
  expect(await hookOf(hook.id)).toEqual(hook);
  expect(await statusesOf(hook.id)).toEqual(["failed", "failed", "failed"]);
  expect(await deletionsOf(hook.id)).toEqual([]);
});
