import { env } from "cloudflare:workers";
import { asc } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { openDatabase } from "../../../../src/db/db.ts";
import { eventCursors, events, repositories, users } from "../../../../src/db/schema/index.ts";
import { forwardEvents } from "../../../../src/domain/exchange/event-stream/forward-events.ts";
import { handleBatch, handleSchedule } from "../../../../src/jobs/index.ts";
import { only } from "../../../../src/lib/only.ts";
import type { ForwardedEvent } from "../../../../src/shapes/events/forwarded-event.ts";
import { systemCtx } from "../../../support/system.ts";
import { migrate } from "../../../support/migrate.ts";

// A separate database, since all events in it are forwarded.
const db = openDatabase(env.FORWARDING_DB.withSession());

beforeEach(async () => {
  await migrate(env.FORWARDING_DB);
  await db.delete(eventCursors);
  await db.delete(events);
});

/** The context of a job, with an operator's queue. */
const ctxWith = (queue: Pick<Queue<object>, "sendBatch"> = env.OPERATOR_QUEUE) =>
  systemCtx({ DB: env.FORWARDING_DB, EVENTS_OUT: queue as Queue<object> }, Date.now(), {
    ROOT_URL: "https://forge.example",
  });

/** Records a number of events, and returns their ids. */
async function record(count: number, fields: Partial<typeof events.$inferInsert> = {}) {
  const row = {
    type: "organization.created",
    actorId: 0,
    ownerId: 0,
    payload: { name: "made" },
    createdAt: 1000,
    ...fields,
  };
  const inserts = Array.from({ length: count }, () => db.insert(events).values(row).returning());
  const [first, ...rest] = inserts;
  if (!first) return [];
  return (await db.batch([first, ...rest])).map((rows) => only(rows).id);
}

/** A queue that records its batches. */
function makeQueue(refusals = 0) {
  const batches: ForwardedEvent[][] = [];
  let refusalsLeft = refusals;
  const sendBatch = (messages: Iterable<MessageSendRequest<object>>) => {
    if (refusalsLeft-- > 0) return Promise.reject(new Error("Queue sendBatch failed"));
    batches.push([...messages].map(({ body }) => body as ForwardedEvent));
    return Promise.resolve({ metadata: { metrics: {} } } as QueueSendBatchResponse);
  };
  return { sendBatch, batches, ids: () => batches.flat().map(({ id }) => id) };
}

const cursor = async () => (await db.select().from(eventCursors))[0]?.lastId;

/** Polls the messages that the operator's Worker received, until there are enough. */
async function received(count: number): Promise<ForwardedEvent[]> {
  const messages: ForwardedEvent[] = [];
  await vi.waitFor(
    async () => {
      const answer = await env.OPERATOR.fetch("http://operator/");
      messages.push(...(await answer.json<ForwardedEvent[]>()));
      expect(messages.length).toBeGreaterThanOrEqual(count);
    },
    { timeout: 10_000, interval: 50 },
  );
  return messages;
}

describe("the operator's queue", () => {
  it("receives events from its first run on, as an administrator sees them", async () => {
    await record(2);
    await forwardEvents(ctxWith());
    const at = { createdAt: 1000, updatedAt: 1000 };
    const name = `user-${crypto.randomUUID().slice(0, 8)}`;
    const hides = { isEmailHidden: true, isActivityHidden: true, visibility: "private" as const };
    const account = { kind: "user" as const, name, lowerName: name, email: "a@example.com" };
    const user = only(
      await db
        .insert(users)
        .values({ ...account, ...hides, ...at })
        .returning(),
    );
    const columns = {
      objectName: name,
      networkName: name,
      name: "r",
      lowerName: "r",
      ownerId: user.id,
    };
    const settings = {
      defaultBranch: "main",
      pullSettings: {},
      issueSettings: {},
      isPrivate: true,
    };
    const repo = only(
      await db
        .insert(repositories)
        .values({ ...columns, ...settings, ...at } as typeof repositories.$inferInsert)
        .returning(),
    );
    const columnsOfEvent = { actorId: user.id, ownerId: user.id, repoId: repo.id };
    const payload = { parentId: 77, name: "not forwarded" };
    const ids = await record(1, { ...columnsOfEvent, type: "repository.forked", payload });
    ids.push(...(await record(1, { ownerId: 0, type: "hook.created", payload: { hookId: 3 } })));
    await forwardEvents(ctxWith());

    const login = {
      login: name,
      email: "a@example.com",
      html_url: `https://forge.example/${name}`,
    };
    expect(await received(2)).toEqual([
      {
        id: ids[0],
        type: "repository.forked",
        actor: expect.objectContaining(login),
        repository: { id: repo.id, name: "r", full_name: `${name}/r` },
        owner: expect.objectContaining(login),
        payload: {},
        created_at: "1970-01-01T00:00:01Z",
      },
      {
        id: ids[1],
        type: "hook.created",
        actor: null,
        repository: null,
        owner: null,
        payload: { hook_id: 3 },
        created_at: "1970-01-01T00:00:01Z",
      },
    ]);
  });

  it("receives many events in order, each once if nothing fails", async () => {
    await forwardEvents(ctxWith());
    const ids = await record(300);
    await forwardEvents(ctxWith());
    expect((await received(300)).map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids);

    const queue = makeQueue();
    await db.update(eventCursors).set({ lastId: (ids[0] ?? 0) - 1 });
    await forwardEvents(ctxWith(queue));
    expect(queue.ids()).toEqual(ids);
    expect(queue.batches.map(({ length }) => length)).toEqual([100, 100, 100]);
    await forwardEvents(ctxWith(queue));
    expect(queue.ids()).toHaveLength(300);
    expect(await cursor()).toBe(ids.at(-1));
  });

  it("is served by each dispatch message, and each minute", async () => {
    const queue = makeQueue();
    await forwardEvents(ctxWith(queue));
    const first = await record(1);
    const message = {
      id: "1",
      timestamp: new Date(),
      attempts: 1,
      body: { kind: "dispatch" } as const,
    };
    const ack = vi.fn<() => void>();
    const messages = [{ ...message, ack, retry: vi.fn<() => void>() }];
    await handleBatch({ messages }, () => ctxWith(queue));
    expect([queue.ids(), ack.mock.calls.length]).toEqual([first, 1]);
    const second = await record(1);
    await handleSchedule("* * * * *", ctxWith(queue));
    expect(queue.ids()).toEqual([...first, ...second]);
  });

  it("is optional: without it no cursor is stored", async () => {
    await record(1);
    await forwardEvents(systemCtx({ DB: env.FORWARDING_DB }, Date.now()));
    expect(await cursor()).toBeUndefined();
  });

  it("receives events again that it refused", async () => {
    const queue = makeQueue(2);
    await forwardEvents(ctxWith(queue));
    const ids = await record(3);
    for (let attempt = 0; attempt < 2; attempt++) {
      const before = await cursor();
      await forwardEvents(ctxWith(queue));
      expect([queue.ids(), await cursor()]).toEqual([[], before]);
    }
    await forwardEvents(ctxWith(queue));
    expect([queue.ids(), await cursor()]).toEqual([ids, ids.at(-1)]);
  });

  // A Worker that dies after the queue accepted a batch sends that batch twice, and skips nothing.
  it("receives a batch twice if its sender was interrupted", async () => {
    const queue = makeQueue();
    await forwardEvents(ctxWith(queue));
    const ids = await record(150);
    const { sendBatch } = queue;
    const dying = {
      sendBatch: async (messages: Iterable<MessageSendRequest<object>>) => {
        await sendBatch(messages);
        throw new Error("cut off");
      },
    };
    await forwardEvents(ctxWith(dying));
    await forwardEvents(ctxWith(queue));
    expect(queue.ids()).toEqual([...ids.slice(0, 100), ...ids]);
  });

  it("misses nothing while forwarders run concurrently and events are recorded", async () => {
    const queue = makeQueue();
    await forwardEvents(ctxWith(queue));
    const early = await record(120);
    const [late] = await Promise.all([
      record(80),
      ...Array.from({ length: 5 }, () => forwardEvents(ctxWith(queue))),
    ]);
    await forwardEvents(ctxWith(queue));
    const firsts = [...new Set(queue.ids())];
    expect(firsts).toEqual([...early, ...late]);
    const stored = await db.select({ id: events.id }).from(events).orderBy(asc(events.id));
    expect(await cursor()).toBe(stored.at(-1)?.id);
  });

  it("receives no batch again that a concurrent run sent", async () => {
    const queue = makeQueue();
    await forwardEvents(ctxWith(queue));
    const ids = await record(150);
    const slow = {
      sendBatch: async (messages: Iterable<MessageSendRequest<object>>) => {
        await forwardEvents(ctxWith(queue));
        return queue.sendBatch(messages);
      },
    };
    await forwardEvents(ctxWith(slow));
    expect(queue.ids()).toEqual([...ids, ...ids.slice(0, 100)]);
    expect(await cursor()).toBe(ids.at(-1));
  });

  it("receives a large push without its payload, in batches within its limits", async () => {
    const queue = makeQueue();
    await forwardEvents(ctxWith(queue));
    const pushed = (refBytes: number) => ({
      type: "repository.pushed",
      payload: {
        pushId: crypto.randomUUID(),
        part: 0,
        refCount: 1,
        updates: [{ ref: `refs/heads/${"é".repeat(refBytes / 2)}`, before: null, after: "1" }],
      },
    });
    const ids = [
      ...(await record(1, pushed(100_000))),
      ...(await record(1, pushed(120_000))),
      ...(await record(1, pushed(130_000))),
      ...(await record(1, pushed(110_000))),
    ];
    await forwardEvents(ctxWith(queue));
    expect(queue.ids()).toEqual(ids);
    const sizeOf = (value: object) => new TextEncoder().encode(JSON.stringify(value)).length;
    for (const batch of queue.batches) {
      expect(batch.reduce((sum, message) => sum + sizeOf(message), 0)).toBeLessThan(256_000);
      for (const message of batch) expect(sizeOf(message)).toBeLessThan(128_000);
    }
    const all = queue.batches.flat();
    expect(all.map(({ truncated }) => truncated)).toEqual([undefined, undefined, true, undefined]);
    expect(all[2]).toMatchObject({ id: ids[2], payload: null });
    expect(all[0]?.payload).toMatchObject({ ref_count: 1 });

    // The real queue accepts messages of that size.
    await db.update(eventCursors).set({ lastId: (ids[0] ?? 0) - 1 });
    await forwardEvents(ctxWith());
    expect(await received(4)).toHaveLength(4);
  });

  // After a return to an older version there may be kinds that it does not know.
  it("receives an event of an unknown kind, without its payload", async () => {
    const queue = makeQueue();
    await forwardEvents(ctxWith(queue));
    const ids = await record(1, { type: "wonder.happened", payload: { secret: "x" } });
    ids.push(...(await record(1)));
    await forwardEvents(ctxWith(queue));
    expect(queue.ids()).toEqual(ids);
    expect(queue.batches[0]?.[0]?.payload).toEqual({});
  });
});
