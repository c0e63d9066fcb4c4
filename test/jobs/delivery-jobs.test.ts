import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { hookDeliveries, type Hook } from "../../src/db/schema/index.ts";
import { handleBatch } from "../../src/jobs/index.ts";
import type { DeliveryJob } from "../../src/storage/event-queues.ts";
import { db } from "../support/db.ts";
import {
  deliveriesOf,
  deliveryOf,
  hookAfter,
  makeDelivery,
  makeReceivedHook,
  SETTINGS,
} from "../support/deliveries.ts";
import { systemCtx } from "../support/system.ts";

/** Makes a hook whose receiver needs no signature: the Worker of these tests has no sealing key. */
const makeUnsignedHook = (plan: string) => makeReceivedHook(plan, { secret: null });

const send = (hooks: readonly Hook[]) =>
  env.DELIVERY_JOBS.sendBatch(hooks.map(({ id }) => ({ body: { hookIds: [id] } })));

const batchOf = (hookIds: readonly number[]) =>
  createMessageBatch<DeliveryJob>(
    "edgeforge-deliveries",
    hookIds.map((hookId, at) => ({
      id: String(at),
      timestamp: new Date(),
      attempts: 1,
      body: { hookIds: [hookId] },
    })),
  );

/** Handles a batch as the runtime would. Returns its result and the deferred work. */
async function handleAsRuntime(
  batch: ReturnType<typeof batchOf>,
  settings: Record<string, string> = {},
  bindings: Partial<Env> = {},
) {
  const deferred: Promise<unknown>[] = [];
  await handleBatch(batch, () => ({
    ...systemCtx(bindings, Date.now(), { ...SETTINGS, ...settings }),
    defer: (work) => void deferred.push(work),
  }));
  return { result: await getQueueResult(batch, createExecutionContext()), deferred };
}

describe("a batch of delivery jobs", () => {
  it("is finished within the batch if receivers are quick", async () => {
    const [one, two] = [await makeReceivedHook("200"), await makeReceivedHook("200")];
    for (const { hook } of [one, two]) await makeDelivery(hook);
    // One message is for a deleted hook, and one is repeated.
    const { result } = await handleAsRuntime(
      batchOf([one.hook.id, two.hook.id, 999_999_999, one.hook.id]),
    );
    expect(result.explicitAcks).toEqual(["0", "1", "2", "3"]);
    for (const { hook, received } of [one, two]) {
      expect(await received()).toHaveLength(1);
      expect((await deliveryOf(hook)).status).toBe("succeeded");
    }
  });

  it("continues after the batch if a receiver is slow", async () => {
    const slow = await makeReceivedHook("slow:2000");
    await makeDelivery(slow.hook);
    const { result, deferred } = await handleAsRuntime(batchOf([slow.hook.id]), {
      DELIVER_TIMEOUT: "5",
    });
    expect(result.explicitAcks).toEqual(["0"]);
    expect((await deliveryOf(slow.hook)).status).toBe("pending");
    await Promise.all(deferred);
    expect((await deliveryOf(slow.hook)).status).toBe("succeeded");
  });

  it("is retried if the database fails", async () => {
    const { result } = await handleAsRuntime(batchOf([1]), {}, { DB: env.BARE_DB });
    expect(result.explicitAcks).toEqual([]);
    expect(result.retryMessages).toMatchObject([{ msgId: "0" }]);
  });

  it("loses nothing if the work of one hook fails, and finishes the others", async () => {
    const [bad, good] = [await makeReceivedHook("200"), await makeReceivedHook("slow:200")];
    for (const { hook } of [bad, good]) await makeDelivery(hook);
    // The result of its attempt cannot be stored.
    await db.run(
      `create trigger refuse_${bad.hook.id} before update on hook_deliveries when new.hook_id = ${bad.hook.id} begin select raise(abort, 'refused'); end`,
    );
    const { result, deferred } = await handleAsRuntime(batchOf([bad.hook.id, good.hook.id]));
    await Promise.all(deferred);
    await db.run(`drop trigger refuse_${bad.hook.id}`);
    expect(result.explicitAcks).toEqual(["0", "1"]);
    expect((await deliveryOf(good.hook)).status).toBe("succeeded");
    expect(await deliveryOf(bad.hook)).toMatchObject({ status: "pending", attemptCount: 0 });
    // The schedule requeues the delivery once the lease has expired.
    expect((await hookAfter(bad.hook)).leasedUntil).toBeGreaterThan(Date.now());
  });
});

describe("the queue", () => {
  it("delivers to other hooks while receivers hang", async () => {
    // Three batches: each takes five messages, and each of these would take five seconds.
    const hanging = await Promise.all(Array.from({ length: 11 }, () => makeUnsignedHook("hang")));
    for (const { hook } of hanging) await makeDelivery(hook);
    await send(hanging.map(({ hook }) => hook));
    for (const { received } of hanging.slice(0, 1)) {
      await vi.waitFor(async () => expect(await received()).toHaveLength(1), { timeout: 10_000 });
    }
    const good = await makeUnsignedHook("200");
    await makeDelivery(good.hook);
    await send([good.hook]);
    await vi.waitFor(async () => expect(await good.received()).toHaveLength(1), {
      timeout: 20_000,
      interval: 50,
    });
    // The first two batches have not ended, as they would have if batches waited for receivers.
    const firstTen = hanging.slice(0, 10).map(({ hook }) => hook);
    const ended = (await Promise.all(firstTen.map((hook) => deliveriesOf(hook)))).filter(
      ([delivery]) => delivery?.failure,
    );
    expect(ended.length).toBeLessThan(10);
    // A hanging delivery continues after its batch, and its result is stored in the end.
    const [last] = hanging.slice(-1);
    const hook = last?.hook as Hook;
    await vi.waitFor(
      async () => expect((await deliveriesOf(hook))[0]?.failure).toBe("no answer within 5 s"),
      { timeout: 20_000, interval: 200 },
    );
    // None of these deliveries may run on during other tests.
    for (const { hook: each } of hanging) {
      await db.delete(hookDeliveries).where(eq(hookDeliveries.hookId, each.id));
    }
  });
});
