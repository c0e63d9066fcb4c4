import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, hookDeliveries, hooks } from "../../../../../src/db/schema/index.ts";
import { db } from "../../../../support/db.ts";
import {
  clockAt,
  deliver,
  deliveriesOf,
  hookAfter,
  IMPATIENT,
  makeDelivery,
  makeReceivedHook,
} from "../../../../support/deliveries.ts";

const NOW = Date.UTC(2026, 0, 31, 8, 15);
const DAY_MS = 24 * 60 * 60 * 1000;
const FAILING = { failingSince: NOW - 5 * DAY_MS, failureCount: 9 };

const pausesOf = (ownerId: number) =>
  db
    .select()
    .from(events)
    .where(and(eq(events.ownerId, ownerId), eq(events.type, "hook.paused")));

describe("a hook that has failed for days", () => {
  it("is paused, its pending deliveries are given up, and an event is recorded", async () => {
    const { hook, repo, owner, received } = await makeReceivedHook("404", FAILING);
    for (const _ of [1, 2]) await makeDelivery(hook);
    const requested = await makeDelivery(hook, { nextAttemptAt: NOW + 1, isRequested: true });
    expect(await deliver([hook.id], clockAt(NOW))).toEqual([{ hookId: hook.id, delaySeconds: 1 }]);
    expect(await received()).toHaveLength(1);
    expect(await hookAfter(hook)).toMatchObject({
      pausedAt: NOW,
      lastStatus: "failed",
      failureCount: 10,
      leasedUntil: null,
    });
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "failed", responseStatus: 404, failure: "" },
      {
        status: "failed",
        nextAttemptAt: null,
        attemptCount: 0,
        failure: "not sent: the webhook is paused, because its deliveries failed for too long",
      },
      { id: requested.id, status: "pending" },
    ]);
    expect(await pausesOf(owner.id)).toMatchObject([
      {
        actorId: 0,
        repoId: repo.id,
        payload: { hookId: hook.id },
        createdAt: NOW,
        dispatchAt: null,
      },
    ]);
  });

  it("gives up deliveries that would be retried as well", async () => {
    const { hook } = await makeReceivedHook("500", FAILING);
    await makeDelivery(hook);
    expect(await deliver([hook.id], clockAt(NOW))).toEqual([]);
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "failed", responseStatus: 500, nextAttemptAt: null, attemptCount: 1 },
    ]);
  });

  it.each([
    ["it has not failed for long enough", { ...FAILING, failingSince: FAILING.failingSince + 1 }],
    ["it has not failed often enough", { ...FAILING, failureCount: 8 }],
    ["it is inactive", { ...FAILING, isActive: false }],
  ])("is not paused if %s", async (_, fields) => {
    const { hook, owner } = await makeReceivedHook("404", fields);
    await makeDelivery(hook, { isRequested: true });
    await deliver([hook.id], clockAt(NOW));
    expect(await hookAfter(hook)).toMatchObject({
      pausedAt: null,
      failingSince: fields.failingSince,
      failureCount: fields.failureCount + 1,
    });
    expect(await pausesOf(owner.id)).toEqual([]);
  });

  it.each([
    ["0", 1000 * DAY_MS, null],
    ["9", 9 * DAY_MS - 1, null],
    ["9", 9 * DAY_MS, NOW],
  ])("is paused after the configured number of days: %s", async (days, ms, pausedAt) => {
    const fields = { failingSince: NOW - ms, failureCount: 50 };
    const { hook } = await makeReceivedHook("404", fields);
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW), { WEBHOOK_PAUSE_DAYS: days });
    expect((await hookAfter(hook)).pausedAt).toBe(pausedAt);
  });

  it("starts over after a success", async () => {
    const { hook } = await makeReceivedHook("200|404", FAILING);
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW - 1));
    expect(await hookAfter(hook)).toMatchObject({ failingSince: null, failureCount: 0 });
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW));
    expect(await hookAfter(hook)).toMatchObject({ failingSince: NOW, failureCount: 1 });
  });

  it("stays paused although a requested delivery succeeds", async () => {
    const { hook, received } = await makeReceivedHook("200", { ...FAILING, pausedAt: NOW - 1 });
    await makeDelivery(hook, { isRequested: true });
    await deliver([hook.id], clockAt(NOW));
    expect(await received()).toHaveLength(1);
    expect(await hookAfter(hook)).toMatchObject({ pausedAt: NOW - 1, lastStatus: "succeeded" });
  });

  // An activation during the last attempt takes precedence.
  it("is not paused if it was activated meanwhile", async () => {
    const { hook, owner, received } = await makeReceivedHook("hang", FAILING);
    const { id } = await makeDelivery(hook);
    const work = deliver([hook.id], clockAt(NOW), IMPATIENT);
    await expect.poll(received).toHaveLength(1);
    await db.update(hooks).set({ failingSince: null }).where(eq(hooks.id, hook.id));
    await work;
    expect(await hookAfter(hook)).toMatchObject({ pausedAt: null, failingSince: NOW });
    expect(await pausesOf(owner.id)).toEqual([]);
    const [delivery] = await db.select().from(hookDeliveries).where(eq(hookDeliveries.id, id));
    expect(delivery?.status).toBe("pending");
  });

  it.each([
    ["organization", "organization"],
    ["user", "user"],
    ["system", undefined],
  ] as const)("records the pause for the hook's owner: %s", async (level, kind) => {
    const made = await makeReceivedHook("404", FAILING);
    const ownerId = kind ? made.owner.id : null;
    await db
      .update(hooks)
      .set({ level, ownerId, repoId: null, approverId: level === "user" ? made.owner.id : 0 })
      .where(eq(hooks.id, made.hook.id));
    await makeDelivery(made.hook);
    await deliver([made.hook.id], clockAt(NOW));
    const pauses = (await pausesOf(ownerId ?? 0)).filter(
      ({ payload }) => payload["hookId"] === made.hook.id,
    );
    expect(pauses).toMatchObject([{ ownerId: ownerId ?? 0, repoId: null }]);
    // A system webhook would receive events of other tests.
    await db.delete(hooks).where(eq(hooks.id, made.hook.id));
  });
});
