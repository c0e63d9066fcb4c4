import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { hookDeliveries, hooks } from "../../../../../src/db/schema/index.ts";
import type { Clock } from "../../../../../src/domain/exchange/webhooks/delivery/delivery-run.ts";
import { requeueDue } from "../../../../../src/domain/exchange/webhooks/delivery/requeue-due.ts";
import type { DeliveryJob } from "../../../../../src/storage/event-queues.ts";
import { db } from "../../../../support/db.ts";
import {
  clockAt,
  deliver,
  deliveriesOf,
  deliveryOf,
  hookAfter,
  IMPATIENT,
  makeDelivery,
  makeReceivedHook,
} from "../../../../support/deliveries.ts";
import { failing } from "../../../../support/faults.ts";
import type { ReceivedHook } from "../../../../support/hook-receiver.ts";
import { systemCtx } from "../../../../support/system.ts";

const NOW = Date.UTC(2026, 0, 31, 8, 15);
const LEASE_MS = 60_000;
const uuidsOf = (list: readonly ReceivedHook[]) =>
  list.map(({ headers }) => headers["x-gitea-delivery"]);
const uuids = (list: readonly { uuid: string }[]) => list.map(({ uuid }) => uuid);

/** Whether each request arrived after the response to the previous one. */
const isOneByOne = (list: readonly ReceivedHook[]): boolean =>
  list.every(({ at }, index) => index === 0 || at >= (list[index - 1]?.answeredAt ?? Infinity));

describe("deliveries of one repository", () => {
  it("arrive in order, one after the other, however slow the receiver is", async () => {
    const { hook, received } = await makeReceivedHook("slow:60");
    const made = [];
    for (let at = 0; at < 25; at++) made.push(await makeDelivery(hook));
    expect(await deliver([hook.id])).toEqual([]);
    const requests = await received();
    expect(uuidsOf(requests)).toEqual(uuids(made));
    expect(isOneByOne(requests)).toBe(true);
  });

  it("arrive once, however often and concurrently they are requested", async () => {
    const { hook, received } = await makeReceivedHook("slow:30");
    const other = await makeReceivedHook("slow:30");
    const made = [];
    for (const _ of [1, 2, 3]) made.push(await makeDelivery(hook));
    await makeDelivery(other.hook);
    const requested = [[hook.id, other.hook.id], [hook.id, hook.id], [other.hook.id], [hook.id]];
    await Promise.all([...requested, ...requested].map((hookIds) => deliver(hookIds)));
    for (const hookIds of requested) await deliver(hookIds);
    expect(uuidsOf(await received())).toEqual(uuids(made));
    expect(await other.received()).toHaveLength(1);
  });

  it("are sent by the current lease holder if they are added meanwhile", async () => {
    const { hook, received } = await makeReceivedHook("slow:200");
    const first = await makeDelivery(hook);
    const work = deliver([hook.id]);
    await expect.poll(received).toHaveLength(1);
    const second = await makeDelivery(hook);
    expect(await deliver([hook.id])).toEqual([]);
    await work;
    expect(uuidsOf(await received())).toEqual([first.uuid, second.uuid]);
    expect((await hookAfter(hook)).leasedUntil).toBeNull();
  });
});

describe("deliveries of several repositories", () => {
  it("are concurrent once an attempt succeeded, at most four, in order per repository", async () => {
    const { hook, received } = await makeReceivedHook("slow:150");
    const made = new Map<string, number>();
    for (const _ of [1, 2, 3]) {
      for (const repoId of [11, 12, 13, 14, 15, 16]) {
        made.set((await makeDelivery(hook, { repoId })).uuid, repoId);
      }
    }
    await deliver([hook.id]);
    const requests = await received();
    expect(new Set(uuidsOf(requests))).toEqual(new Set(made.keys()));
    expect(requests).toHaveLength(made.size);
    const concurrentAt = (moment: number) =>
      requests.filter(({ at, answeredAt = 0 }) => at <= moment && answeredAt > moment).length;
    const concurrency = Math.max(...requests.map(({ at }) => concurrentAt(at)));
    expect(concurrency).toBeGreaterThan(1);
    expect(concurrency).toBeLessThanOrEqual(4);
    expect(isOneByOne(requests.slice(0, 2))).toBe(true);
    for (const repoId of [11, 12, 13, 14, 15, 16]) {
      const own = requests.filter(
        ({ headers }) => made.get(headers["x-gitea-delivery"] ?? "") === repoId,
      );
      const order = [...made.keys()].filter((uuid) => made.get(uuid) === repoId);
      expect(uuidsOf(own)).toEqual(order);
      expect(isOneByOne(own)).toBe(true);
    }
  });

  it("are sent one at a time to a receiver that has not answered yet", async () => {
    const { hook, received } = await makeReceivedHook("hang");
    for (const repoId of [11, 12, 13]) await makeDelivery(hook, { repoId });
    await deliver([hook.id], undefined, IMPATIENT);
    expect(await received()).toHaveLength(1);
  });
});

describe("several hooks", () => {
  it("do not wait for a hook whose receiver hangs", async () => {
    const hanging = await makeReceivedHook("hang");
    const others = await Promise.all([1, 2, 3, 4].map(() => makeReceivedHook("200")));
    for (const { hook } of [hanging, ...others]) await makeDelivery(hook);
    const hookIds = [hanging, ...others].map(({ hook }) => hook.id);
    const work = deliver(hookIds, undefined, { DELIVER_TIMEOUT: "3" });
    for (const { received } of others) await expect.poll(received).toHaveLength(1);
    expect(await deliveryOf(hanging.hook)).toMatchObject({ status: "pending", attemptCount: 0 });
    await work;
    expect(await hanging.received()).toHaveLength(1);
  });

  it("are left to messages of their own while receivers that hang take all connections", async () => {
    const hanging = await Promise.all(Array.from({ length: 7 }, () => makeReceivedHook("hang")));
    const good = [await makeReceivedHook("200"), await makeReceivedHook("200")];
    for (const { hook } of [...hanging, ...good]) await makeDelivery(hook);
    const sent: DeliveryJob[] = [];
    const queue = {
      sendBatch: async (messages: { body: DeliveryJob }[]) =>
        void sent.push(...messages.map(({ body }) => body)),
    } as unknown as Env["DELIVERY_JOBS"];
    const ids = [...hanging, ...good].map(({ hook }) => hook.id).toSorted((a, b) => a - b);
    const settings = { DELIVER_TIMEOUT: "4" };
    const work = deliver(ids, undefined, settings, { DELIVERY_JOBS: queue });
    // Six hooks hang; the seventh waits with the others, and none waits until the first ones time
    // out.
    await expect.poll(() => sent).toHaveLength(3);
    for (const { hook } of hanging) expect((await deliveryOf(hook)).attemptCount).toBe(0);
    const left = sent.map(({ hookIds }) => hookIds);
    for (const { hook } of good) {
      expect(left).toContainEqual([hook.id]);
      expect(await hookAfter(hook)).toMatchObject({ leasedUntil: null });
    }
    for (const hookIds of left) await deliver(hookIds);
    for (const { received } of good) expect(await received()).toHaveLength(1);
    await work;
    for (const { received } of hanging) expect(await received()).toHaveLength(1);
  });

  it("come first if their last attempt succeeded", async () => {
    const silent = await Promise.all(
      Array.from({ length: 7 }, () =>
        makeReceivedHook("hang", { failureCount: 1, failingSince: NOW }),
      ),
    );
    const good = await makeReceivedHook("200");
    for (const { hook } of [...silent, good]) await makeDelivery(hook);
    const hookIds = [...silent, good].map(({ hook }) => hook.id);
    const work = deliver(hookIds, undefined, { DELIVER_TIMEOUT: "5" });
    await expect
      .poll(async () => (await deliveryOf(good.hook)).status, { timeout: 4000 })
      .toBe("succeeded");
    for (const { hook } of silent) expect((await deliveryOf(hook)).attemptCount).toBe(0);
    await work;
  });
});

describe("a delivery run that is interrupted", () => {
  it("is repeated under the same delivery id once its lease has expired", async () => {
    const { hook, received } = await makeReceivedHook("200");
    const { uuid } = await makeDelivery(hook);
    // The run acquires the lease and sends, and dies before it records the attempt.
    const { bindings } = failing({ at: 1, isDone: false, isDeath: true });
    await deliver([hook.id], clockAt(NOW), {}, bindings);
    expect(await received()).toHaveLength(1);
    expect((await deliveryOf(hook)).status).toBe("pending");
    expect((await hookAfter(hook)).leasedUntil).toBe(NOW + LEASE_MS);
    await deliver([hook.id], clockAt(NOW + LEASE_MS - 1));
    expect(await received()).toHaveLength(1);
    await deliver([hook.id], clockAt(NOW + LEASE_MS));
    expect(uuidsOf(await received())).toEqual([uuid, uuid]);
    expect((await deliveryOf(hook)).status).toBe("succeeded");
  });

  it("changes nothing if it continues after another run acquired its expired lease", async () => {
    const { hook, received } = await makeReceivedHook("slow:600|slow:300");
    const [first, second] = [await makeDelivery(hook), await makeDelivery(hook)];
    const late = deliver([hook.id], clockAt(NOW), { DELIVER_TIMEOUT: "5" });
    await expect.poll(received).toHaveLength(1);
    const laterAt = NOW + LEASE_MS + 5000;
    const next = deliver([hook.id], clockAt(laterAt), { DELIVER_TIMEOUT: "5" });
    await expect.poll(received).toHaveLength(3);
    // By now the late run has continued and found that its lease is lost.
    await late;
    expect((await hookAfter(hook)).leasedUntil).toBeGreaterThanOrEqual(laterAt + LEASE_MS);
    expect((await deliveriesOf(hook))[0]).toMatchObject({ updatedAt: laterAt });
    await next;
    expect(uuidsOf(await received())).toEqual([first.uuid, first.uuid, second.uuid]);
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "succeeded", attemptCount: 1 },
      { status: "succeeded", attemptCount: 1 },
    ]);
    expect((await hookAfter(hook)).leasedUntil).toBeNull();
  });

  it("leaves the work that it does not finish to another message", async () => {
    const { hook, received } = await makeReceivedHook("200");
    for (const _ of [1, 2, 3]) await makeDelivery(hook);
    // Each reading of the clock advances it by three seconds, of the twenty that a run starts
    // attempts.
    let now = NOW;
    const clock: Clock = { now: () => (now += 3000), random: () => 0 };
    const sent = await deliver([hook.id], clock, IMPATIENT);
    expect(sent).toEqual([{ hookId: hook.id, delaySeconds: 0 }]);
    expect((await hookAfter(hook)).leasedUntil).toBeNull();
    const count = (await received()).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(3);
    await deliver([hook.id]);
    expect(await received()).toHaveLength(3);
  });
});

describe("results that are stored together", () => {
  it("change their hook as if each were stored alone", async () => {
    const { hook, received } = await makeReceivedHook("200|200|404|200|200");
    for (let at = 0; at < 5; at++) await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW));
    expect(await received()).toHaveLength(5);
    expect((await deliveriesOf(hook)).map(({ status }) => status)).toEqual([
      "succeeded",
      "succeeded",
      "failed",
      "succeeded",
      "succeeded",
    ]);
    expect(await hookAfter(hook)).toMatchObject({
      lastStatus: "succeeded",
      failingSince: null,
      failureCount: 0,
      leasedUntil: null,
    });
  });
});

describe("a redelivery", () => {
  it("that is requested during an attempt is sent as well", async () => {
    const { hook, received } = await makeReceivedHook("slow:300|200");
    const { id, uuid } = await makeDelivery(hook);
    const work = deliver([hook.id]);
    await expect.poll(received).toHaveLength(1);
    await db
      .update(hookDeliveries)
      .set({ isRequested: true, attemptCount: 0, nextAttemptAt: 2000, updatedAt: 2000 })
      .where(eq(hookDeliveries.id, id));
    await work;
    expect(uuidsOf(await received())).toEqual([uuid, uuid]);
    expect(await deliveryOf(hook)).toMatchObject({ status: "succeeded", attemptCount: 1 });
  });
});

describe("a hook that is inactive or paused", () => {
  it.each([
    ["not active", { isActive: false }, "not sent: the webhook is not active"],
    [
      "paused",
      { pausedAt: 5 },
      "not sent: the webhook is paused, because its deliveries failed for too long",
    ],
  ])("gets only tests and redeliveries: %s", async (_, fields, failure) => {
    const { hook, received } = await makeReceivedHook("500|200", fields);
    await makeDelivery(hook);
    const requested = await makeDelivery(hook, { isRequested: true });
    await makeDelivery(hook);
    expect(await deliver([hook.id], clockAt(NOW, 0))).toEqual([
      { hookId: hook.id, delaySeconds: 5 },
    ]);
    await deliver([hook.id], clockAt(NOW + 5000));
    expect(uuidsOf(await received())).toEqual([requested.uuid, requested.uuid]);
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "failed", failure, nextAttemptAt: null, attemptCount: 0 },
      { status: "succeeded", failure: "" },
      { status: "failed", failure, nextAttemptAt: null, attemptCount: 0 },
    ]);
    expect(await hookAfter(hook)).toMatchObject({ ...fields, leasedUntil: null });
  });

  it("stops in the middle of its list when it is deactivated", async () => {
    const { hook, received } = await makeReceivedHook("slow:200");
    for (const _ of [1, 2, 3]) await makeDelivery(hook);
    const work = deliver([hook.id]);
    await expect.poll(received).toHaveLength(1);
    await db.update(hooks).set({ isActive: false }).where(eq(hooks.id, hook.id));
    await work;
    expect((await deliveriesOf(hook)).map(({ status }) => status)).toEqual([
      "succeeded",
      "failed",
      "failed",
    ]);
  });
});

describe("the schedule", () => {
  it("requeues hooks with due deliveries, and none that is leased or backing off", async () => {
    const due = await makeReceivedHook("200");
    const backingOff = await makeReceivedHook("200", { backoffUntil: NOW + 1000 });
    const leased = await makeReceivedHook("200", { leasedUntil: NOW + 1000 });
    const waiting = await makeReceivedHook("200");
    const done = await makeReceivedHook("200");
    const all = [due, backingOff, leased, waiting, done];
    for (const { hook } of all) await makeDelivery(hook, { nextAttemptAt: NOW });
    await db
      .update(hookDeliveries)
      .set({ nextAttemptAt: NOW + 1000 })
      .where(eq(hookDeliveries.hookId, waiting.hook.id));
    await deliver([done.hook.id]);

    const requeued = async (now: number) => {
      const sent: number[] = [];
      const queue = {
        sendBatch: async (messages: { body: DeliveryJob }[]) =>
          void sent.push(...messages.flatMap(({ body }) => body.hookIds)),
      } as unknown as Env["DELIVERY_JOBS"];
      await requeueDue(systemCtx({ DELIVERY_JOBS: queue }, now));
      return all.map(({ hook }) => sent.includes(hook.id));
    };
    expect(await requeued(NOW - 1)).toEqual([false, false, false, false, false]);
    expect(await requeued(NOW)).toEqual([true, false, false, false, false]);
    expect(await requeued(NOW + 1000)).toEqual([true, true, true, true, false]);

    const hookIds = all.map(({ hook }) => hook.id);
    await deliver(hookIds, clockAt(NOW + 1000));
    for (const { received } of all) expect(await received()).toHaveLength(1);
  });
});
