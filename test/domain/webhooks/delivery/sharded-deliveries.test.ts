import { beforeEach, describe, expect, it } from "vitest";

import { accountActor } from "../../../../src/auth/actor.ts";
import { hookDeliveries, hooks, type User } from "../../../../src/db/schema/index.ts";
import { findDelivery } from "../../../../src/domain/webhooks/delivery/find-delivery.ts";
import { listDeliveries } from "../../../../src/domain/webhooks/delivery/list-deliveries.ts";
import { redeliver, redeliverFailed } from "../../../../src/domain/webhooks/delivery/redeliver.ts";
import { editHook } from "../../../../src/domain/webhooks/hooks/edit-hook.ts";
import { findHook } from "../../../../src/domain/webhooks/hooks/find-hook.ts";
import { webhookEvents } from "../../../../src/db/schema/index.ts";
import { only } from "../../../../src/lib/only.ts";
import {
  copy,
  directory,
  eventsIn,
  makeAccount,
  makeHookIn,
  openSharded,
  type Sent,
  shardDatabase,
  shardedCtx,
} from "../../../support/sharded.ts";

beforeEach(openSharded);

/** Stores a failed delivery in a database, created at a time in milliseconds. */
async function makeFailed(shard: number, hookId: number, at: number): Promise<number> {
  const db = shardDatabase(shard);
  const { id: webhookEventId } = only(
    await db
      .insert(webhookEvents)
      .values({ eventId: at, part: 0, event: "push", repoId: 0, payload: {}, createdAt: at })
      .returning(),
  );
  const times = { createdAt: at, updatedAt: at };
  const row = { hookId, webhookEventId, uuid: `u${at}`, event: "push", status: "failed" as const };
  return only(
    await db
      .insert(hookDeliveries)
      .values({ ...row, ...times })
      .returning(),
  ).id;
}

/** A hook of an account with failed deliveries in three databases. */
async function makeScene() {
  const user = await makeAccount();
  const owner = { level: "user", ownerId: user.id } as const;
  const hook = await makeHookIn(directory, { ...owner, url: "https://a.example" });
  await copy();
  const ids: number[] = [];
  for (const [shard, at] of [
    [0, 1],
    [2, 2],
    [1, 3],
    [2, 4],
  ] as const) {
    ids.push(await makeFailed(shard, hook.id, at));
  }
  return { user, hook, ids, hookOwner: { level: "user", owner: user } as const };
}

const ctxOf = (user: User, sent: Sent = []) => ({
  ...shardedCtx({}, sent),
  actor: accountActor(user),
});
const statusesIn = async (shard: number) =>
  (await shardDatabase(shard).select().from(hookDeliveries)).map(({ status }) => status);

describe("deliveries of an account's hook that several databases make", () => {
  it("have ids of their own, and are listed newest first with their number", async () => {
    const { user, hook, ids, hookOwner } = await makeScene();
    expect(new Set(ids).size).toBe(4);
    const ctx = ctxOf(user);
    const list = async (offset: number, size: number) => {
      const { items, total } = await listDeliveries(ctx, hookOwner, hook.id, {}, { offset, size });
      return { ids: items.map(({ delivery }) => delivery.id), total };
    };
    expect(await list(0, 50)).toEqual({ ids: ids.toReversed(), total: 4 });
    expect(await list(2, 1)).toEqual({ ids: [ids[1]], total: 4 });
    const filter = { status: "succeeded" } as const;
    const page = { offset: 0, size: 50 };
    expect(await listDeliveries(ctx, hookOwner, hook.id, filter, page)).toMatchObject({ total: 0 });
  });

  it("are found and redelivered where they are, and nowhere for another owner", async () => {
    const { user, hook, ids, hookOwner } = await makeScene();
    const sent: Sent = [];
    const ctx = ctxOf(user, sent);
    const id = ids[1] as number;
    expect(await findDelivery(ctx, hookOwner, hook.id, id)).toMatchObject({ eventId: 2 });

    const stranger = await makeAccount();
    const foreign = { level: "user", owner: stranger } as const;
    const kind = { kind: "not_found" };
    await expect(redeliver(ctx, foreign, hook.id, id)).rejects.toMatchObject(kind);
    await expect(redeliver(ctx, hookOwner, hook.id, 2 ** 36 * 9)).rejects.toMatchObject(kind);
    await expect(
      listDeliveries(ctx, foreign, hook.id, {}, { offset: 0, size: 1 }),
    ).rejects.toMatchObject(kind);
    await expect(redeliverFailed(ctx, foreign, hook.id, 0)).rejects.toMatchObject(kind);
    expect(await statusesIn(2)).toEqual(["failed", "failed"]);
    expect(await eventsIn(shardDatabase(2))).toEqual([]);

    expect(await redeliver(ctx, hookOwner, hook.id, id)).toMatchObject({
      delivery: { id, status: "pending" },
    });
    expect(await statusesIn(2)).toEqual(["pending", "failed"]);
    expect(await eventsIn(shardDatabase(2))).toMatchObject([
      { type: "hook.redelivered", ownerId: user.id },
    ]);
    expect(sent).toEqual([{ body: { hookIds: [hook.id], shard: 2 }, delaySeconds: 0 }]);
  });

  it("are redelivered in all of them since a time, up to a number", async () => {
    const { user, hook, hookOwner } = await makeScene();
    const ctx = ctxOf(user);
    expect(await redeliverFailed(ctx, hookOwner, hook.id, 2, 1)).toBe(1);
    expect(await redeliverFailed(ctx, hookOwner, hook.id, 2)).toBe(2);
    expect(await redeliverFailed(ctx, hookOwner, hook.id, 2)).toBe(0);
    expect([await statusesIn(0), await statusesIn(1), await statusesIn(2)]).toEqual([
      ["failed"],
      ["pending"],
      ["pending", "pending"],
    ]);
  });

  it("say together what the last result was, and since when all fail, until it is activated", async () => {
    const { user, hook, hookOwner } = await makeScene();
    const ctx = ctxOf(user);
    const failing = { lastStatus: "failed", failingSince: 10, failureCount: 3 } as const;
    const set = (shard: number, state: Partial<typeof hooks.$inferInsert>) =>
      shardDatabase(shard).update(hooks).set(state);
    await set(2, { ...failing, lastDeliveredAt: 30 });
    await set(1, { lastStatus: "succeeded", lastDeliveredAt: 20 });
    const find = () => findHook(ctx, hookOwner, hook.id);
    expect(await find()).toMatchObject({ lastStatus: "failed", failingSince: 20 });
    await set(1, { lastDeliveredAt: 40 });
    expect(await find()).toMatchObject({ lastStatus: "succeeded", failingSince: null });

    const edited = await editHook(ctx, hookOwner, hook.id, { isActive: true, chat: {} });
    expect(edited).toMatchObject({ lastStatus: "succeeded", failureCount: 0 });
    await copy();
    const [there] = await shardDatabase(2).select().from(hooks);
    expect(there).toMatchObject({ failingSince: null, failureCount: 0 });
  });
});
