import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  webhookEvents,
  hookDeliveries,
  type Hook,
  type HookDelivery,
} from "../../../../../src/db/schema/index.ts";
import { archiveDeliveries } from "../../../../../src/domain/exchange/webhooks/delivery/archive-deliveries.ts";
import { sweepDeliveries } from "../../../../../src/domain/exchange/webhooks/delivery/sweep-deliveries.ts";
import { only } from "../../../../../src/lib/only.ts";
import { call } from "../../../../support/call.ts";
import { db } from "../../../../support/db.ts";
import {
  countingDatabase,
  deliver,
  deliveriesOf,
  deliveryOf,
  makeDelivery,
  makeReceivedHook,
} from "../../../../support/deliveries.ts";
import { makeHook, makeKeptDelivery, PUSHED } from "../../../../support/hooks.ts";
import { make, type TestUser } from "../../../../support/make.ts";
import { systemCtx } from "../../../../support/system.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** The payload as it is shown. */
const SHOWN = JSON.stringify(PUSHED, undefined, 2);
const NOW = Date.UTC(2027, 0, 20, 12);
const OLD = NOW - HOUR_MS - 1;

const SENT = {
  status: "succeeded",
  attemptCount: 1,
  requestUrl: "https://receiver.example/hook",
  requestHeaders: { "X-Gitea-Event": "push" },
  responseStatus: 200,
  responseHeaders: { server: "receiver" },
  responseBody: "thanks ✓",
} as const satisfies Partial<HookDelivery>;
/** What the row of an archived delivery has of its attempt. */
const EMPTY = {
  isArchived: true,
  requestUrl: "",
  requestHeaders: null,
  responseStatus: 200,
  responseHeaders: null,
  responseBody: null,
};

const archive = (bindings: Partial<Env> = {}, now = NOW) =>
  archiveDeliveries(systemCtx(bindings, now));

const eventOf = async ({ webhookEventId }: HookDelivery) =>
  only(await db.select().from(webhookEvents).where(eq(webhookEvents.id, webhookEventId)));
const filesIn = async () =>
  (await env.PACKS.list({ prefix: "webhooks/" })).objects.map(({ key }) => key);

async function makeOwned(fields: Partial<Hook> = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const hook = await makeHook({
    level: "repository",
    repoId: repo.id,
    approverId: owner.id,
    // Nothing is delivered meanwhile.
    leasedUntil: NOW + 365 * DAY_MS,
    ...fields,
  });
  const path = `/repos/${repo.owner}/${repo.name}/hooks/${hook.id}/deliveries`;
  return { owner, hook, path };
}

const show = async (owner: TestUser, path: string, { id }: HookDelivery) => {
  const { status, body } = await call("GET", `${path}/${id}`, { as: owner });
  expect(status).toBe(200);
  return body;
};

// What other files left.
beforeEach(async () => {
  await db.batch([db.delete(hookDeliveries), db.delete(webhookEvents)]);
});

describe("deliveries that ended an hour ago", () => {
  it("are moved into one file, and shown as before", async () => {
    const { owner, hook, path } = await makeOwned();
    const made = [
      await makeKeptDelivery(hook, { ...SENT, createdAt: OLD }),
      await makeKeptDelivery(hook, { ...SENT, responseBody: "other", createdAt: OLD }),
    ];
    const before = await Promise.all(made.map((each) => show(owner, path, each)));
    expect(before).toMatchObject([
      { request: { body: SHOWN }, response: { body: "thanks ✓" } },
      { request: { body: SHOWN }, response: { body: "other" } },
    ]);
    const filesBefore = (await filesIn()).length;

    await archive();

    expect(await filesIn()).toHaveLength(filesBefore + 1);
    expect(await deliveriesOf(hook)).toMatchObject([EMPTY, EMPTY]);
    const events = await Promise.all(made.map(eventOf));
    expect(events.map(({ payload }) => payload)).toEqual([{}, {}]);
    expect(new Set(events.map(({ archive: name }) => name))).toEqual(
      new Set([expect.stringMatching(/^2027-01-20\/[\da-f]{16}$/)]),
    );
    expect(await Promise.all(made.map((each) => show(owner, path, each)))).toEqual(before);

    // Nothing is left to do.
    const { bindings, counted } = countingDatabase();
    await archive(bindings);
    expect(counted.calls).toBe(0);
    expect(await filesIn()).toHaveLength(filesBefore + 1);
  });

  it("stay where they are while one of the same event is pending, and until an hour passed", async () => {
    const { hook } = await makeOwned();
    const pending = await makeKeptDelivery(hook, {
      status: "pending",
      nextAttemptAt: NOW + DAY_MS,
      createdAt: OLD,
    });
    const young = await makeKeptDelivery(hook, { ...SENT, createdAt: OLD + 2 });
    // One behind these is reached all the same.
    const old = await makeKeptDelivery(hook, { ...SENT, createdAt: OLD });

    await archive();

    const events = await Promise.all([pending, young, old].map(eventOf));
    expect(events.map(({ archive: name }) => name !== null)).toEqual([false, false, true]);
    expect(await deliveriesOf(hook)).toMatchObject([{ isArchived: false }, SENT, EMPTY]);
  });

  it("are redelivered with the bytes of the first attempt, whose answer is stored again", async () => {
    const { hook, received, owner, repo } = await makeReceivedHook("200|404", { secret: null });
    const path = `/repos/${repo.owner}/${repo.name}/hooks/${hook.id}/deliveries`;
    await makeDelivery(hook, { event: "push", payload: { ...PUSHED, text: "ä ✓" } });
    await deliver([hook.id]);
    const first = await deliveryOf(hook);
    expect(first).toMatchObject({ status: "succeeded", responseStatus: 200 });
    await archive({}, Date.now());
    expect(await deliveryOf(hook)).toMatchObject({ isArchived: true, requestHeaders: null });

    const { status } = await call("POST", `${path}/${first.id}/attempts`, { as: owner });
    expect(status).toBe(202);
    await expect.poll(async () => (await received()).length, { timeout: 20_000 }).toBe(2);
    const [one, two] = await received();
    expect([two?.body, two?.headers]).toEqual([one?.body, expect.anything()]);
    expect(two?.headers["x-gitea-delivery"]).toBe(first.uuid);
    await expect
      .poll(() => deliveryOf(hook), { timeout: 20_000 })
      .toMatchObject({ isArchived: false, responseStatus: 404, requestUrl: hook.url });
    expect(await show(owner, path, first)).toMatchObject({ response: { status: 404 } });
  });

  it("keep what changes while they are moved", async () => {
    const { owner, hook, path } = await makeOwned();
    const delivery = await makeKeptDelivery(hook, { ...SENT, createdAt: OLD });
    const PACKS = {
      ...env.PACKS,
      put: async (key: string, bytes: Uint8Array) => {
        await db
          .update(hookDeliveries)
          .set({ responseBody: "again", updatedAt: NOW })
          .where(eq(hookDeliveries.id, delivery.id));
        return env.PACKS.put(key, bytes);
      },
    } as unknown as Env["PACKS"];
    await archive({ PACKS });
    expect(await deliveryOf(hook)).toMatchObject({ isArchived: false, responseBody: "again" });
    expect(await show(owner, path, delivery)).toMatchObject({
      request: { body: SHOWN },
      response: { body: "again" },
    });
  });

  it("are moved once by concurrent runs, and by the next one after an interruption", async () => {
    const { owner, hook, path } = await makeOwned();
    const made = await makeKeptDelivery(hook, { ...SENT, createdAt: OLD });
    const before = await show(owner, path, made);
    // Ends after the file was written, and before the database knows of it.
    const PACKS = {
      ...env.PACKS,
      put: async (key: string, bytes: Uint8Array) => {
        await env.PACKS.put(key, bytes);
        throw new Error("the Worker ended");
      },
    } as unknown as Env["PACKS"];
    await expect(archive({ PACKS })).rejects.toThrow("the Worker ended");
    expect(await deliveriesOf(hook)).toMatchObject([SENT]);
    expect(await show(owner, path, made)).toEqual(before);

    await Promise.all([archive(), archive(), archive()]);
    expect(await deliveriesOf(hook)).toMatchObject([EMPTY]);
    expect(await show(owner, path, made)).toEqual(before);
  });
});

describe("files of archived deliveries", () => {
  it("are deleted with the last row of their day, also those that nothing refers to", async () => {
    const { hook } = await makeOwned();
    const kept = new Uint8Array([1]);
    await env.PACKS.put("webhooks/2027-01-19/lost", kept);
    await makeKeptDelivery(hook, { ...SENT, createdAt: OLD });
    await archive();
    const isOfToday = (key: string): boolean => key.startsWith("webhooks/2027-01-20/");
    const today = (await filesIn()).find(isOfToday);
    const sweep = (now: number) => sweepDeliveries(systemCtx({}, now));

    await sweep(NOW);
    expect(await filesIn()).not.toContain("webhooks/2027-01-19/lost");
    expect(await filesIn()).toContain(today);
    await sweep(OLD + 30 * DAY_MS);
    expect(await filesIn()).toContain(today);
    await sweep(OLD + 30 * DAY_MS + 1);
    expect(await deliveriesOf(hook)).toEqual([]);
    expect(await filesIn()).not.toContain(today);
  });
});
