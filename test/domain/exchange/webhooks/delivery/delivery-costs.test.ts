import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { hookDeliveries, hooks } from "../../../../../src/db/schema/index.ts";
import { only } from "../../../../../src/lib/only.ts";
import { db } from "../../../../support/db.ts";
import {
  clockAt,
  countingDatabase,
  deliver,
  deliveriesOf,
  hookAfter,
  makeDelivery,
  makeReceivedHook,
} from "../../../../support/deliveries.ts";

const NOW = Date.UTC(2026, 0, 31, 8, 15);
/** Database calls of a delivery in a burst, at most. */
const CALLS_MAX = 0.5;

/** Hooks of one repository with one receiver, each with a delivery of the same webhook event. */
async function makeBurst(count: number) {
  const { hook, received } = await makeReceivedHook("200");
  const { webhookEventId, event } = await makeDelivery(hook);
  const { id: _, ...row } = hook;
  const hookIds = [hook.id];
  while (hookIds.length < count) {
    const made = only(await db.insert(hooks).values(row).returning());
    hookIds.push(made.id);
    await db.insert(hookDeliveries).values({
      hookId: made.id,
      webhookEventId,
      uuid: crypto.randomUUID(),
      event,
      nextAttemptAt: 1000,
      createdAt: 1000,
      updatedAt: 1000,
    });
  }
  return { hookIds, webhookEventId, received };
}

const deliveriesOfEvent = (webhookEventId: number) =>
  db.select().from(hookDeliveries).where(eq(hookDeliveries.webhookEventId, webhookEventId));

describe("database calls of a delivery", () => {
  it("are few if one event has many hooks", async () => {
    const { hookIds, webhookEventId, received } = await makeBurst(200);
    const { bindings, counted } = countingDatabase();
    // As the queue batches them. A run whose receiver is slow, as on a busy machine, leaves hooks
    // to further messages.
    let left: readonly number[] = hookIds;
    while (left.length > 0) {
      const sent = await deliver(left.slice(0, 100), clockAt(NOW), {}, bindings);
      left = [...left.slice(100), ...sent.map(({ hookId }) => hookId)];
    }
    const made = await deliveriesOfEvent(webhookEventId);
    expect(made.filter(({ status }) => status === "succeeded")).toHaveLength(200);
    const ids = (await received()).map(({ headers }) => headers["x-gitea-delivery"]);
    expect(new Set(ids)).toEqual(new Set(made.map(({ uuid }) => uuid)));
    expect(ids).toHaveLength(200);
    expect(counted.calls / 200).toBeLessThanOrEqual(CALLS_MAX);
  });

  it("are few if a hook has many events of one repository, which stay in order", async () => {
    const { hook, received } = await makeReceivedHook("200");
    const made: string[] = [];
    for (let at = 0; at < 60; at++) made.push((await makeDelivery(hook)).uuid);
    const { bindings, counted } = countingDatabase();
    await deliver([hook.id], clockAt(NOW), {}, bindings);
    expect((await received()).map(({ headers }) => headers["x-gitea-delivery"])).toEqual(made);
    expect((await deliveriesOf(hook)).map(({ status }) => status)).toEqual(
      made.map(() => "succeeded"),
    );
    expect(counted.calls / 60).toBeLessThanOrEqual(CALLS_MAX);
  });

  it("are two for one delivery: the lease, and the result with the release", async () => {
    const { hook } = await makeReceivedHook("200");
    await makeDelivery(hook);
    const { bindings, counted } = countingDatabase();
    await deliver([hook.id], clockAt(NOW), {}, bindings);
    expect(counted.calls).toBe(2);
    await deliver([hook.id], clockAt(NOW), {}, bindings);
    expect(counted.calls).toBe(3);
  });
});

describe("payloads of one run", () => {
  // Payloads of up to 1.5 MB each, of more than a run reads and holds at once.
  it("are read again if they are too large together", async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, async (_, at) => {
        const { hook, received } = await makeReceivedHook("200");
        const payload = { number: at, text: String(at).repeat(1_400_000) };
        await makeDelivery(hook, { payload });
        return { hook, received, payload };
      }),
    );
    await deliver(
      made.map(({ hook }) => hook.id),
      clockAt(NOW),
    );
    for (const { hook, received, payload } of made) {
      const [request] = await received();
      expect(JSON.parse(request?.body ?? "null")).toEqual(payload);
      expect((await hookAfter(hook)).leasedUntil).toBeNull();
      await db.delete(hookDeliveries).where(eq(hookDeliveries.hookId, hook.id));
    }
  });
});
