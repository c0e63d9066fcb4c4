import { env } from "cloudflare:workers";
import { eq, isNotNull, isNull, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  eventCursors,
  events,
  hookDeliveries,
  hooks,
  OWNER_PERMISSION,
  relayedEvents,
  repositories,
  type Repository,
  webhookEvents,
} from "../../src/db/schema/index.ts";
import { record } from "../../src/events/record.ts";
import { relayEvents } from "../../src/domain/events/relay-events.ts";
import { handleSchedule } from "../../src/jobs/index.ts";
import { inDatabase } from "../../src/domain/shards/in-database.ts";
import { toRepositoryPayload } from "../../src/events/webhooks/payloads/repository-payload.ts";
import { openReceiver as openReceiverOf } from "../../src/events/webhooks/payloads/open-receiver.ts";
import { openReceiver } from "../support/deliveries.ts";
import {
  copy,
  directory,
  eventsIn,
  handleAll,
  handleMessage,
  makeAccount,
  makeHookIn,
  makeRepository,
  failingDatabase,
  openSharded,
  SHARDED,
  type Sent,
  shardDatabase,
  shardedCtx,
} from "../support/sharded.ts";

beforeEach(openSharded);

/** A repository of shard 2 with a hook, and a receiver of its deliveries. */
async function makeHooked(plan = "200") {
  const owner = await makeAccount();
  const repo = await makeRepository(owner, 2);
  const receiver = openReceiver(plan);
  const db = shardDatabase(2);
  const hook = await makeHookIn(db, { level: "repository", repoId: repo.id, url: receiver.url });
  return { owner, repo, db, hook, received: receiver.received };
}

describe("a message", () => {
  it("names the databases in which events were recorded", async () => {
    const { repo } = await makeHooked();
    const sent: Sent = [];
    const ctx = shardedCtx({}, sent);
    const event = { repoId: repo.id, ownerId: repo.ownerId, changed: ["topics"] };
    for (const shard of [2, 0, 2]) {
      const there = inDatabase(ctx, shard);
      await there.db.batch([record(there, { type: "repository.edited", ...event })]);
    }
    await ctx.eventQueues.dispatchRecorded();
    await inDatabase(ctx, 0).eventQueues.dispatchRecorded();
    expect(sent).toEqual([{ body: { kind: "dispatch", shards: [2, 0] } }]);

    ctx.eventQueues.noteRecorded(directory);
    await ctx.eventQueues.dispatchRecorded();
    // As an earlier version wrote it.
    expect(sent[1]).toEqual({ body: { kind: "dispatch" } });
  });

  it("of a shard has its events dispatched, and deliveries made from there", async () => {
    const { repo, db, hook, received } = await makeHooked();
    const sent: Sent = [];
    const ctx = inDatabase(shardedCtx({}, sent), 2);
    await db.batch([
      record(ctx, { type: "repository.created", repoId: repo.id, ownerId: 1, name: repo.name }),
    ]);

    await handleMessage({ kind: "dispatch" }, () => shardedCtx({}, sent));
    expect(sent).toEqual([]);
    await handleMessage({ kind: "dispatch", shards: [1, 2] }, () => shardedCtx({}, sent));
    expect(sent).toEqual([{ body: { hookIds: [hook.id], shard: 2 }, delaySeconds: 0 }]);
    // The same id is nobody's elsewhere.
    await handleMessage({ hookIds: [hook.id] }, () => shardedCtx({}, sent));
    await handleMessage({ hookIds: [hook.id], shard: 1 }, () => shardedCtx({}, sent));
    expect(await received()).toEqual([]);
    await handleMessage({ hookIds: [hook.id], shard: 2 }, () => shardedCtx({}, sent));

    expect((await received()).map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { action: "created", repository: { id: repo.id, name: repo.name } },
    ]);
    expect(await db.select().from(hookDeliveries)).toMatchObject([{ status: "succeeded" }]);
    expect(await directory.select().from(webhookEvents)).toEqual([]);
  });

  it("is repeated if one of its shards fails, after the others had their turn", async () => {
    const { repo, db, hook } = await makeHooked();
    const sent: Sent = [];
    const ctx = inDatabase(shardedCtx(), 2);
    await db.batch([
      record(ctx, { type: "repository.created", repoId: repo.id, ownerId: 1, name: repo.name }),
    ]);
    const isRetried = await handleMessage({ kind: "dispatch", shards: [3, 2] }, () =>
      shardedCtx({ SHARD_3: env.BARE_DB }, sent),
    );
    expect(isRetried).toBe(true);
    expect(sent).toEqual([{ body: { hookIds: [hook.id], shard: 2 }, delaySeconds: 0 }]);
  });
});

describe("the operator's queue", () => {
  it("gets the events of each database in their order, and a relayed one once", async () => {
    const { repo } = await makeHooked();
    const out: { id: number }[] = [];
    const EVENTS_OUT = {
      sendBatch: async (messages: { body: { id: number } }[]) =>
        void out.push(...messages.map(({ body }) => body)),
    };
    const settings = { EVENTS_OUT };
    // From then on.
    await handleSchedule("* * * * *", shardedCtx(settings));
    const about = { repoId: repo.id, ownerId: repo.ownerId };
    const inShard = inDatabase(shardedCtx(), 2);
    await directory.batch([
      record(shardedCtx(), { type: "repository.created", ...about, name: repo.name }),
    ]);
    for (const oid of ["a", "b"]) {
      await inShard.db.batch([
        record(inShard, { type: "migration.failed", ...about, reason: oid }),
      ]);
    }
    const sent: Sent = [];
    await handleMessage({ kind: "dispatch" }, () => shardedCtx(settings, sent));
    await handleMessage({ kind: "dispatch", shards: [2] }, () => shardedCtx(settings, sent));
    await handleSchedule("* * * * *", shardedCtx(settings));

    const [original] = await eventsIn(directory);
    const own = await shardDatabase(2).select().from(events).where(isNull(events.originalId));
    expect(own).toHaveLength(2);
    expect(out.map(({ id }) => id)).toEqual([original?.id, ...own.map(({ id }) => id)]);
    const [cursor] = await shardDatabase(2).select().from(eventCursors);
    expect(cursor?.lastId).toBe((await eventsIn(shardDatabase(2))).at(-1)?.id);
  });
});

describe("a hook of an organization or of the service", () => {
  it("is told of an event in a shard, in the order of events, and retried there", async () => {
    const owner = await makeAccount("organization");
    const repo = await makeRepository(owner, 2);
    const db = shardDatabase(2);
    const [org, system] = [openReceiver("200"), openReceiver("200|500|200")];
    const { url } = org;
    const organization = { level: "organization", ownerId: owner.id, url } as const;
    const made = await makeHookIn(directory, organization);
    const service = await makeHookIn(directory, { level: "system", url: system.url });
    await copy();
    const ctx = inDatabase(shardedCtx(), 2);
    const about = { repoId: repo.id, ownerId: owner.id };
    await db.batch([record(ctx, { type: "repository.created", ...about, name: repo.name })]);
    await db.batch([record(ctx, { type: "migration.finished", ...about })]);
    await handleAll([{ kind: "dispatch", shards: [2] }]);

    const actions = async ({ received }: typeof org) =>
      (await received()).map(({ body }) => (JSON.parse(body) as { action: string }).action);
    expect(await actions(org)).toEqual(["created", "migration_finished"]);
    // The second failed, and is to be repeated later.
    expect(await actions(system)).toEqual(["created", "migration_finished"]);
    const states = { id: hooks.id, lastStatus: hooks.lastStatus, count: hooks.failureCount };
    expect(await db.select(states).from(hooks).orderBy(hooks.id)).toEqual([
      { id: made.id, lastStatus: "succeeded", count: 0 },
      { id: service.id, lastStatus: "failed", count: 1 },
    ]);
    expect(await directory.select(states).from(hooks).orderBy(hooks.id)).toEqual([
      { id: made.id, lastStatus: "none", count: 0 },
      { id: service.id, lastStatus: "none", count: 0 },
    ]);

    // An edit starts over.
    expect((await db.select(states).from(hooks))[1]).toMatchObject({ count: 1 });
    await directory.update(hooks).set({ updatedAt: 2000 }).where(eq(hooks.id, service.id));
    await copy();
    expect((await db.select(states).from(hooks))[1]).toMatchObject({ count: 0 });
    const { nextAttemptAt } = hookDeliveries;
    await db.update(hookDeliveries).set({ nextAttemptAt: 0 }).where(isNotNull(nextAttemptAt));
    await handleAll([{ hookIds: [service.id], shard: 2 }]);
    expect(await actions(system)).toEqual(["created", "migration_finished", "migration_finished"]);
  });

  it("is paused everywhere when a shard pauses it, unless it was edited since", async () => {
    const hook = await makeHookIn(directory, { level: "system", url: "https://a.example" });
    await copy();
    const ctx = inDatabase(shardedCtx(), 2);
    const paused = { type: "hook.paused", ownerId: 0, hookId: hook.id } as const;
    await ctx.db.batch([
      ctx.db.update(hooks).set({ pausedAt: ctx.now }).where(eq(hooks.id, hook.id)),
      record(ctx, paused),
    ]);
    await handleAll([{ kind: "dispatch", shards: [2] }]);
    await copy();
    for (const shard of [0, 1, 2, 3]) {
      const [row] = await shardDatabase(shard).select().from(hooks);
      expect(row?.pausedAt).toBe(ctx.now);
    }

    const edited = { pausedAt: null, updatedAt: ctx.now + 1000 };
    await directory.update(hooks).set(edited).where(eq(hooks.id, hook.id));
    await ctx.db.batch([record(ctx, paused)]);
    await handleAll([{ kind: "dispatch", shards: [2] }]);
    await copy();
    for (const shard of [0, 1, 2, 3]) {
      const [row] = await shardDatabase(shard).select().from(hooks);
      expect(row?.pausedAt).toBeNull();
    }
  });
});

describe("an event of the first database about a repository of a shard", () => {
  const creation = (repo: Repository) =>
    ({
      type: "repository.created",
      repoId: repo.id,
      ownerId: repo.ownerId,
      name: repo.name,
    }) as const;

  it("comes to the shard once, where its hooks are told of it", async () => {
    const { repo, db, received } = await makeHooked();
    const ctx = shardedCtx();
    await directory.batch([record(ctx, creation(repo))]);
    const [recorded] = await eventsIn(directory);
    expect(recorded).toMatchObject({ dispatchAt: null, consequencesAt: null });
    expect(await directory.select().from(relayedEvents)).toMatchObject([
      { shardId: 2, eventId: recorded?.id, dispatchAt: ctx.now },
    ]);

    await handleAll([{ kind: "dispatch" }]);
    await handleAll([{ kind: "dispatch" }, { kind: "dispatch", shards: [2] }]);

    expect(await eventsIn(db)).toMatchObject([
      {
        ...recorded,
        id: expect.any(Number),
        originalId: recorded?.id,
        dispatchAt: null,
        dispatchAttempts: 1,
      },
    ]);
    expect(await directory.select().from(relayedEvents)).toEqual([]);
    expect((await received()).map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { action: "created", repository: { id: repo.id } },
    ]);
  });

  // Receivers and readers of the repository's stream compare ids, which rise.
  it("comes after what is pending there, and behind what was read", async () => {
    const { repo, db, received } = await makeHooked();
    const inShard = inDatabase(shardedCtx(), 2);
    const about = { repoId: repo.id, ownerId: repo.ownerId };
    await db.batch([record(inShard, { type: "migration.finished", ...about })]);
    await directory.batch([record(shardedCtx(), creation(repo))]);
    // Twice, as after a message that is repeated.
    await relayEvents(shardedCtx());
    await relayEvents(shardedCtx());
    await handleAll([{ kind: "dispatch", shards: [2] }]);

    const [pending, relayed, ...more] = await eventsIn(db);
    expect([pending?.type, relayed?.type, more]).toEqual([
      "migration.finished",
      "repository.created",
      [],
    ]);
    const requests = await received();
    expect(requests.map(({ headers }) => Number(headers["x-edgeforge-event-id"]))).toEqual([
      pending?.id,
      relayed?.id,
    ]);
    const actions = requests.map(({ body }) => (JSON.parse(body) as { action: string }).action);
    expect(actions).toEqual(["migration_finished", "created"]);
  });

  it("stays where the repository is in the first database, and without one", async () => {
    const owner = await makeAccount();
    const repo = await makeRepository(owner, 0);
    const ctx = shardedCtx();
    await directory.batch([
      record(ctx, creation(repo)),
      record(ctx, { type: "organization.created", ownerId: owner.id, name: owner.name }),
    ]);
    expect(await directory.select().from(relayedEvents)).toEqual([]);
    expect((await eventsIn(directory))[0]).toMatchObject({ dispatchAt: ctx.now });
  });

  it("of the deletion comes there too, and leaves no payload in either", async () => {
    const { repo, owner, db } = await makeHooked();
    const receiver = openReceiver("200");
    await makeHookIn(directory, { level: "system", url: receiver.url });
    await copy();
    const ctx = shardedCtx();
    await directory.delete(repositories).where(eq(repositories.id, repo.id));
    const lastPayload = toRepositoryPayload(
      {
        repo: { row: repo, owner, permission: OWNER_PERMISSION },
        sender: owner,
        viewer: openReceiverOf({ ...ctx, publicUrl: "https://forge.example" }),
      },
      "deleted",
    );
    await directory.batch([
      record(ctx, {
        type: "repository.deleted",
        repoId: repo.id,
        ownerId: owner.id,
        name: repo.name,
        shard: 2,
        lastPayload,
      }),
    ]);
    await handleAll([{ kind: "dispatch" }]);
    expect(
      (await receiver.received()).map(({ body }) => JSON.parse(body) as unknown),
    ).toMatchObject([{ action: "deleted", repository: { id: repo.id } }]);
    for (const each of [directory, db]) {
      const [event] = await each.select().from(events).where(eq(events.type, "repository.deleted"));
      expect(event).toMatchObject({ dispatchAt: null, payload: { name: repo.name } });
      expect(event?.payload["lastPayload"]).toBeUndefined();
    }
  });

  it("waits for its shard alone if that fails", async () => {
    const { repo } = await makeHooked();
    const other = await makeRepository(await makeAccount(), 3);
    const ctx = shardedCtx();
    await directory.batch([record(ctx, creation(repo)), record(ctx, creation(other))]);
    const isRetried = await handleMessage({ kind: "dispatch" }, () =>
      shardedCtx({ SHARD_2: env.BARE_DB }),
    );
    expect(isRetried).toBe(true);
    expect(await eventsIn(shardDatabase(3))).toMatchObject([{ repoId: other.id }]);
    expect(await directory.select().from(relayedEvents)).toMatchObject([{ shardId: 2 }]);
  });

  it.each([
    { isDone: false, isDeath: false },
    { isDone: true, isDeath: true },
  ])("is told once, wherever a call fails (%o)", async (mode) => {
    const { repo, db, received } = await makeHooked();
    for (let at = 0; ; at++) {
      const ctx = shardedCtx();
      await directory.batch([record(ctx, creation(repo))]);
      const faults = { at, ...mode, calls: 0 };
      const failing = Object.fromEntries(
        (["DB", "SHARD_2"] as const).map((name) => [name, failingDatabase(SHARDED[name], faults)]),
      );
      const sent: Sent = [];
      await handleMessage({ kind: "dispatch" }, () => shardedCtx(failing, sent));
      await handleMessage({ kind: "dispatch", shards: [2] }, () => shardedCtx(failing, sent));
      sent.length = 0;
      // Leases expire, and the schedule finds what has no message.
      await db.update(events).set({ dispatchAt: 0 }).where(isNotNull(events.dispatchAt));
      await handleSchedule("* * * * *", shardedCtx({}, sent));
      await handleAll(sent.map(({ body }) => body));
      expect(await received()).toHaveLength(at + 1);
      if (faults.calls <= at) break;
    }
  });

  it("is not noted without shards", async () => {
    const { repo } = await makeHooked();
    await directory.run(sql`delete from shards`);
    await directory.batch([record(shardedCtx(), creation(repo))]);
    expect(await directory.select().from(relayedEvents)).toEqual([]);
  });
});
