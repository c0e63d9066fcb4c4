import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { hookDeliveries, hooks } from "../../../../src/db/schema/index.ts";
import type { Clock } from "../../../../src/domain/webhooks/delivery/delivery-run.ts";
import { requeueDue } from "../../../../src/domain/webhooks/delivery/requeue-due.ts";
import type { DeliveryJob } from "../../../../src/storage/event-queues.ts";
import { db } from "../../../support/db.ts";
import {
  clockAt,
  deliver,
  deliveriesOf,
  deliveryOf,
  hookAfter,
  makeDelivery,
  makeReceivedHook,
} from "../../../support/deliveries.ts";
import { failing } from "../../../support/faults.ts";
import type { ReceivedHook } from "../../../support/hook-receiver.ts";
import { systemCtx } from "../../../support/system.ts";

const NOW = Date.UTC(2026, 0, 31, 8, 15);
const LEASE_MS = 60_000;
const uuidsOf = (list: readonly ReceivedHook[]) =>
  list.map(({ headers }) => headers["x-gitea-delivery"]);
const uuids = (list: readonly { uuid: string }[]) => list.map(({ uuid }) => uuid);

/** Whether each request came after the one before it was answered. */
const isOneByOne = (list: readonly ReceivedHook[]): boolean =>
  list.every(({ at }, place) => place === 0 || at >= (list[place - 1]?.answeredAt ?? Infinity));

describe("what one repository tells", () => {
  it("comes in its order, one after the other, however slow the receiver is", async () => {
    const { hook, received } = await makeReceivedHook("slow:60");
    const made = [];
    for (let at = 0; at < 25; at++) made.push(await makeDelivery(hook));
    expect(await deliver([hook.id])).toEqual([]);
    const requests = await received();
    expect(uuidsOf(requests)).toEqual(uuids(made));
    expect(isOneByOne(requests)).toBe(true);
  });

  it("comes once, however often and at once it is asked for", async () => {
    const { hook, received } = await makeReceivedHook("slow:30");
    const other = await makeReceivedHook("slow:30");
    const made = [];
    for (const _ of [1, 2, 3]) made.push(await makeDelivery(hook));
    await makeDelivery(other.hook);
    const asked = [[hook.id, other.hook.id], [hook.id, hook.id], [other.hook.id], [hook.id]];
    await Promise.all([...asked, ...asked].map((hookIds) => deliver(hookIds)));
    for (const hookIds of asked) await deliver(hookIds);
    expect(uuidsOf(await received())).toEqual(uuids(made));
    expect(await other.received()).toHaveLength(1);
  });

  it("is sent by whoever delivers already, where it comes meanwhile", async () => {
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

describe("what several repositories tell", () => {
  it("goes beside each other once the receiver is there, each in its order, four at most", async () => {
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
    const openAt = (moment: number) =>
      requests.filter(({ at, answeredAt = 0 }) => at <= moment && answeredAt > moment).length;
    const most = Math.max(...requests.map(({ at }) => openAt(at)));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
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

  it("goes one at a time to a receiver that has not answered yet", async () => {
    const { hook, received } = await makeReceivedHook("hang");
    for (const repoId of [11, 12, 13]) await makeDelivery(hook, { repoId });
    await deliver([hook.id]);
    expect(await received()).toHaveLength(1);
  });
});

describe("hooks beside each other", () => {
  it("do not wait for one whose receiver hangs", async () => {
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
});

describe("a deliverer that is cut off", () => {
  it("is followed by another once its lease has passed, which sends again under the same id", async () => {
    const { hook, received } = await makeReceivedHook("200");
    const { uuid } = await makeDelivery(hook);
    // It claims and sends, and dies before it writes down what came of it.
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

  it("that comes back after its lease passed changes nothing of another's", async () => {
    const { hook, received } = await makeReceivedHook("slow:600|slow:300");
    const [first, second] = [await makeDelivery(hook), await makeDelivery(hook)];
    const late = deliver([hook.id], clockAt(NOW), { DELIVER_TIMEOUT: "5" });
    await expect.poll(received).toHaveLength(1);
    const laterAt = NOW + LEASE_MS + 5000;
    const next = deliver([hook.id], clockAt(laterAt), { DELIVER_TIMEOUT: "5" });
    await expect.poll(received).toHaveLength(3);
    // The late one has come back by now and found another there.
    await late;
    expect((await hookAfter(hook)).leasedUntil).toBe(laterAt + LEASE_MS);
    expect((await deliveriesOf(hook))[0]).toMatchObject({ updatedAt: laterAt });
    await next;
    expect(uuidsOf(await received())).toEqual([first.uuid, first.uuid, second.uuid]);
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "succeeded", attemptCount: 1 },
      { status: "succeeded", attemptCount: 1 },
    ]);
    expect((await hookAfter(hook)).leasedUntil).toBeNull();
  });

  it("leaves what it does not get to to a message of its own", async () => {
    const { hook, received } = await makeReceivedHook("200");
    for (const _ of [1, 2, 3]) await makeDelivery(hook);
    // Three seconds go by with each look at the clock.
    let now = NOW;
    const clock: Clock = { now: () => (now += 3000), random: () => 0 };
    const sent = await deliver([hook.id], clock);
    expect(sent).toEqual([{ hookId: hook.id, delaySeconds: 0 }]);
    expect((await hookAfter(hook)).leasedUntil).toBeNull();
    const count = (await received()).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(3);
    await deliver([hook.id]);
    expect(await received()).toHaveLength(3);
  });
});

describe("a redelivery", () => {
  it("that is asked for while the delivery is under way is sent as well", async () => {
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

describe("a hook that is not active or paused", () => {
  it.each([
    ["not active", { isActive: false }, "not sent: the webhook is not active"],
    [
      "paused",
      { pausedAt: 5 },
      "not sent: the webhook is paused, because its deliveries failed for too long",
    ],
  ])("gets only what somebody asked for: %s", async (_, fields, failure) => {
    const { hook, received } = await makeReceivedHook("500|200", fields);
    await makeDelivery(hook);
    const asked = await makeDelivery(hook, { isRequested: true });
    await makeDelivery(hook);
    expect(await deliver([hook.id], clockAt(NOW, 0))).toEqual([
      { hookId: hook.id, delaySeconds: 5 },
    ]);
    await deliver([hook.id], clockAt(NOW + 5000));
    expect(uuidsOf(await received())).toEqual([asked.uuid, asked.uuid]);
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "failed", failure, nextAttemptAt: null, attemptCount: 0 },
      { status: "succeeded", failure: "" },
      { status: "failed", failure, nextAttemptAt: null, attemptCount: 0 },
    ]);
    expect(await hookAfter(hook)).toMatchObject({ ...fields, leasedUntil: null });
  });

  it("stops in the middle of its list", async () => {
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
  it("wakes hooks whose time has come, and none that is held or busy until then", async () => {
    const due = await makeReceivedHook("200");
    const held = await makeReceivedHook("200", { backoffUntil: NOW + 1000 });
    const busy = await makeReceivedHook("200", { leasedUntil: NOW + 1000 });
    const waiting = await makeReceivedHook("200");
    const done = await makeReceivedHook("200");
    const all = [due, held, busy, waiting, done];
    for (const { hook } of all) await makeDelivery(hook, { nextAttemptAt: NOW });
    await db
      .update(hookDeliveries)
      .set({ nextAttemptAt: NOW + 1000 })
      .where(eq(hookDeliveries.hookId, waiting.hook.id));
    await deliver([done.hook.id]);

    const woken = async (now: number) => {
      const sent: number[] = [];
      const queue = {
        sendBatch: async (messages: { body: DeliveryJob }[]) =>
          void sent.push(...messages.map(({ body }) => body.hookId)),
      } as unknown as Env["DELIVERY_JOBS"];
      await requeueDue(systemCtx({ DELIVERY_JOBS: queue }, now));
      return all.map(({ hook }) => sent.includes(hook.id));
    };
    expect(await woken(NOW - 1)).toEqual([false, false, false, false, false]);
    expect(await woken(NOW)).toEqual([true, false, false, false, false]);
    expect(await woken(NOW + 1000)).toEqual([true, true, true, true, false]);

    const hookIds = all.map(({ hook }) => hook.id);
    await deliver(hookIds, clockAt(NOW + 1000));
    for (const { received } of all) expect(await received()).toHaveLength(1);
  });
});
