import { env } from "cloudflare:workers";
import { asc, eq, inArray, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { meterD1 } from "../../../../../src/db/meter.ts";
import {
  webhookEvents,
  collaborations,
  events,
  hookDeliveries,
  hooks,
  type Hook,
} from "../../../../../src/db/schema/index.ts";
import {
  DISPATCH_ATTEMPTS_MAX,
  DISPATCH_LEASE_MS,
  dispatchEvents,
} from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { pushOf, recordEvent } from "../../../../support/activities.ts";
import { call } from "../../../../support/call.ts";
import { History } from "../../../../support/commits.ts";
import { db } from "../../../../support/db.ts";
import { failing } from "../../../../support/faults.ts";
import { makeHistory, makeHook } from "../../../../support/hooks.ts";
import { make, type TestRepo, type TestUser } from "../../../../support/make.ts";
import { pushCommands } from "../../../../support/push.ts";
import { systemCtx } from "../../../../support/system.ts";

/** Later than any event that the queue dispatches by itself. */
const LATE = Date.UTC(2100, 0, 1);
const MINUTE_MS = 60_000;

/**
 * Dispatches pending events. Returns the hooks that would be delivered to, without sending
 * messages.
 */
async function dispatchAt(now: number, bindings: Partial<Env> = {}): Promise<number[]> {
  const queued: number[] = [];
  const queue = {
    sendBatch: (messages: { body: { hookIds: number[] } }[]) => {
      queued.push(...messages.flatMap(({ body }) => body.hookIds));
      return Promise.resolve();
    },
  } as unknown as Env["DELIVERY_JOBS"];
  await dispatchEvents(systemCtx({ DELIVERY_JOBS: queue, ...bindings }, now, { ROOT_URL: "" }));
  return queued;
}

async function makeScene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const own = { level: "repository" as const, approverId: owner.id, repoId: repo.id };
  return { owner, repo, own };
}

const created = (repo: TestRepo, by: TestUser, at = LATE) =>
  recordEvent(repo, by, "repository.created", { name: repo.name }, at, at);

const webhookEventsOf = (repo: { id: number }) =>
  db
    .select()
    .from(webhookEvents)
    .where(eq(webhookEvents.repoId, repo.id))
    .orderBy(asc(webhookEvents.id));
const deliveriesOf = (hook: Pick<Hook, "id">) =>
  db
    .select()
    .from(hookDeliveries)
    .where(eq(hookDeliveries.hookId, hook.id))
    .orderBy(asc(hookDeliveries.id));
const stateOf = async (id: number) => {
  const [row] = await db.select().from(events).where(eq(events.id, id));
  return [row?.dispatchAt, row?.dispatchAttempts];
};

// Dispatches the events that other tests left, long before those of this file.
beforeEach(async () => {
  await dispatchAt(LATE - 1_000_000);
});

describe("a pending event", () => {
  it("becomes webhook events with a delivery for each hook, and queues the hooks", async () => {
    const { owner, repo, own } = await makeScene();
    const { main } = await makeHistory(repo);
    await dispatchAt(LATE - 1_000_000);
    const hook = await makeHook({ ...own, events: ["push", "create"], branchFilter: "main" });
    const ofOwner = await makeHook({ level: "user", approverId: owner.id, ownerId: owner.id });
    const update = { ref: "refs/heads/main", before: null, after: main };
    const other = { ref: "refs/heads/x", before: null, after: main };
    const pushed = { ...pushOf(), refCount: 2, updates: [other, update] };
    const id = await recordEvent(repo, owner, "repository.pushed", pushed, LATE, LATE);
    await db.update(events).set({ rootUrl: "https://forge.example" }).where(eq(events.id, id));

    expect(new Set(await dispatchAt(LATE))).toEqual(new Set([hook.id, ofOwner.id]));
    const rows = await webhookEventsOf(repo);
    // The part counts all webhook events, also those without recipients.
    expect(rows.map(({ eventId, part, event }) => [eventId, part, event])).toEqual([
      [id, 1, "push"],
      [id, 2, "create"],
      [id, 3, "push"],
    ]);
    expect(rows[2]?.payload).toMatchObject({
      ref: "refs/heads/main",
      after: main,
      commits: [{ id: main, added: ["file"] }],
      repository: { html_url: `https://forge.example/${owner.name}/${repo.name}` },
      sender: { login: owner.name },
    });
    const deliveries = await deliveriesOf(hook);
    expect(deliveries).toMatchObject(
      [rows[1], rows[2]].map((row) => ({
        webhookEventId: row?.id,
        event: row?.event,
        status: "pending",
        isRequested: false,
        attemptCount: 0,
        requestUrl: "",
        requestHeaders: null,
        failure: "",
        uuid: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
      })),
    );
    expect(deliveries[0]?.nextAttemptAt).toBeGreaterThanOrEqual(LATE);
    expect((await deliveriesOf(ofOwner)).map(({ event }) => event)).toEqual(["push", "push"]);
    expect(await stateOf(id)).toEqual([null, 1]);
    expect(await dispatchAt(LATE)).toEqual([]);
  });

  it("is dispatched once, however often and concurrently", async () => {
    const { owner, repo, own } = await makeScene();
    const hook = await makeHook({ ...own, events: ["repository"] });
    await created(repo, owner);
    await Promise.all([1, 2, 3, 4].map(() => dispatchAt(LATE)));
    await dispatchAt(LATE + DISPATCH_LEASE_MS + 1);
    expect([(await webhookEventsOf(repo)).length, (await deliveriesOf(hook)).length]).toEqual([
      1, 1,
    ]);
  });

  it("is dispatched in order within a repository, by concurrent calls", async () => {
    const scenes = [await makeScene(), await makeScene()];
    const ids = new Map<number, number[]>();
    for (const { own, repo } of scenes) {
      await makeHook({ ...own, events: ["repository"] });
      ids.set(repo.id, []);
    }
    for (let count = 0; count < 60; count++) {
      const { owner, repo } = scenes[count % 2] as (typeof scenes)[0];
      ids.get(repo.id)?.push(await created(repo, owner));
    }
    await Promise.all([1, 2, 3].map(() => dispatchAt(LATE)));
    for (const { repo } of scenes) {
      const order = (await webhookEventsOf(repo)).map(({ eventId }) => eventId);
      expect(order).toEqual(ids.get(repo.id));
    }
  });

  // A call that leases an event of a repository also dispatches events recorded meanwhile.
  it("is left alone while an earlier event of its repository is leased", async () => {
    const { owner, repo, own } = await makeScene();
    await makeHook({ ...own, events: ["repository"] });
    const first = await created(repo, owner);
    await db
      .update(events)
      .set({ dispatchAt: LATE + MINUTE_MS })
      .where(eq(events.id, first));
    const second = await created(repo, owner);
    await dispatchAt(LATE);
    expect(await webhookEventsOf(repo)).toEqual([]);
    expect(await stateOf(second)).toEqual([LATE, 0]);
    await dispatchAt(LATE + MINUTE_MS);
    expect((await webhookEventsOf(repo)).map(({ eventId }) => eventId)).toEqual([first, second]);
  });

  describe.each([
    ["before the call is executed", false],
    ["and the call's result is lost", true],
  ])("if the dispatch dies at some call, %s", (_, isDone) => {
    it("is dispatched by the next one, once", async () => {
      for (let at = 0; at < 8; at++) {
        const { owner, repo, own } = await makeScene();
        const { main } = await makeHistory(repo);
        await dispatchAt(LATE - 1_000_000);
        const hook = await makeHook(own);
        const pushed = {
          ...pushOf(),
          updates: [{ ref: "refs/heads/main", before: null, after: main }],
        };
        const id = await recordEvent(repo, owner, "repository.pushed", pushed, LATE, LATE);
        const fault = failing({ at, isDone, isDeath: true });
        await dispatchAt(LATE, { DB: fault.bindings.DB as Env["DB"] }).catch(() => {});
        const before = (await deliveriesOf(hook)).map(({ uuid }) => uuid);
        await dispatchAt(LATE + MINUTE_MS / 2);
        await dispatchAt(LATE + DISPATCH_LEASE_MS + MINUTE_MS);
        const after = (await deliveriesOf(hook)).map(({ uuid }) => uuid);
        expect(after, `call ${at}`).toHaveLength(1);
        expect(after).toEqual(before.length === 0 ? after : before);
        expect((await stateOf(id))[0]).toBeNull();
      }
    });
  });

  it("blocks only its own repository if it fails, and is given up in the end", async () => {
    const [bad, good] = [await makeScene(), await makeScene()];
    const hook = await makeHook({ ...bad.own, events: ["push", "repository"] });
    await makeHook({ ...good.own, events: ["repository"] });
    const pushed = pushOf("refs/heads/main");
    const failingId = await recordEvent(
      bad.repo,
      bad.owner,
      "repository.pushed",
      pushed,
      LATE,
      LATE,
    );
    const behind = await created(bad.repo, bad.owner);
    const other = await created(good.repo, good.owner);
    const logs = vi.spyOn(console, "log").mockImplementation(() => {});
    const brokenAt = async (now: number) => {
      const ctx = systemCtx({}, now);
      const git = Object.create(ctx.git) as typeof ctx.git;
      git.repository = (location) => {
        if (location.objectName === bad.repo.objectName) throw new Error("the repository is away");
        return ctx.git.repository(location);
      };
      await dispatchEvents({ ...ctx, git });
    };

    await brokenAt(LATE);
    expect((await webhookEventsOf(good.repo)).map(({ eventId }) => eventId)).toEqual([other]);
    expect(await webhookEventsOf(bad.repo)).toEqual([]);
    const [dueAt] = await stateOf(failingId);
    expect((dueAt ?? 0) - LATE).toBeGreaterThanOrEqual(30_000);
    expect((await stateOf(behind))[1]).toBe(0);

    let now = LATE;
    for (let attempt = 1; attempt < DISPATCH_ATTEMPTS_MAX; attempt++) {
      expect(await stateOf(failingId)).toEqual([expect.any(Number), attempt]);
      now = (await stateOf(failingId))[0] ?? 0;
      await brokenAt(now);
    }
    expect(now - LATE).toBeGreaterThan(2 * 60 * MINUTE_MS);
    expect(now - LATE).toBeLessThan(24 * 60 * MINUTE_MS);
    expect((await stateOf(failingId))[0]).toBeNull();
    expect((await webhookEventsOf(bad.repo)).map(({ eventId }) => eventId)).toEqual([behind]);
    expect((await deliveriesOf(hook)).map(({ event }) => event)).toEqual(["repository"]);
    const lines = logs.mock.calls.map(([line]) => String(line));
    expect(lines.join("\n")).toContain(
      JSON.stringify({
        event: "dispatch:given-up",
        eventId: failingId,
        attempts: DISPATCH_ATTEMPTS_MAX,
      }),
    );
    expect(lines.join("\n")).not.toContain("the repository is away");
    logs.mockRestore();
  });

  // An event that ends its process must not block the others for ever.
  it("is given up if every dispatch of it died", async () => {
    const { owner, repo, own } = await makeScene();
    const hook = await makeHook({ ...own, events: ["repository"] });
    const [fatalId, next] = [await created(repo, owner), await created(repo, owner)];
    // The event behind it was leased along with it each time, and never started.
    const isLeased = inArray(events.id, [fatalId, next]);
    await db.update(events).set({ dispatchAttempts: DISPATCH_ATTEMPTS_MAX }).where(isLeased);
    const broken = await recordEvent(repo, owner, "repository.pushed", { updates: 7 }, LATE, LATE);
    await dispatchAt(LATE);
    expect((await webhookEventsOf(repo)).map(({ eventId }) => eventId)).toEqual([next]);
    expect(await deliveriesOf(hook)).toHaveLength(1);
    expect([(await stateOf(fatalId))[0], (await stateOf(broken))[0]]).toEqual([null, null]);
  });

  it("reaches no hook that is newer, inactive, paused, filtered, or lost its approver", async () => {
    const { owner, repo, own } = await makeScene();
    const former = await make.user();
    await make.collaborator(repo, former, 3);
    const all = [
      await makeHook({ ...own, createdAt: LATE + 1 }),
      await makeHook({ ...own, isActive: false }),
      await makeHook({ ...own, pausedAt: 5 }),
      await makeHook({ ...own, branchFilter: "release/*" }),
      await makeHook({ ...own, events: ["status", "repository"] }),
      await makeHook({ ...own, approverId: former.id }),
    ];
    await db.delete(collaborations).where(eq(collaborations.userId, former.id));
    const id = await recordEvent(
      repo,
      owner,
      "repository.pushed",
      pushOf("refs/heads/main"),
      LATE,
      LATE,
    );
    expect(await dispatchAt(LATE)).toEqual([]);
    const ids = all.map((hook) => hook.id);
    const made = await db.select().from(hookDeliveries).where(inArray(hookDeliveries.hookId, ids));
    expect([made, await webhookEventsOf(repo)]).toEqual([[], []]);
    expect(await stateOf(id)).toEqual([null, 1]);
  });

  it("reaches a chat only if its payload makes a message", async () => {
    const { owner, repo, own } = await makeScene();
    const [chat, plain] = [await makeHook({ ...own, type: "slack" }), await makeHook(own)];
    // The payload has no commits, since the commit is not stored.
    await recordEvent(repo, owner, "repository.pushed", pushOf("refs/heads/main"), LATE, LATE);
    expect(await dispatchAt(LATE)).toEqual([plain.id]);
    expect(await deliveriesOf(chat)).toEqual([]);
    await db.delete(hooks).where(eq(hooks.id, plain.id));
    const next = await recordEvent(
      repo,
      owner,
      "repository.pushed",
      pushOf("refs/heads/b"),
      LATE,
      LATE,
    );
    expect(await dispatchAt(LATE)).toEqual([]);
    expect((await webhookEventsOf(repo)).map(({ eventId }) => eventId)).not.toContain(next);
  });

  it("reaches the hooks of the source's owner for a fork", async () => {
    const { owner, repo } = await makeScene();
    const forker = await make.user();
    const fork = await make.repo(forker, { parentId: repo.id, isFork: true });
    const subscribed = ["fork", "repository"];
    const own = (user: TestUser) =>
      makeHook({ level: "user", approverId: user.id, ownerId: user.id, events: subscribed });
    const [ofSource, ofFork] = [await own(owner), await own(forker)];
    await recordEvent(fork, forker, "repository.forked", { parentId: repo.id }, LATE, LATE);
    await dispatchAt(LATE);
    const eventsOfHook = async (hook: Hook) => (await deliveriesOf(hook)).map(({ event }) => event);
    expect(await eventsOfHook(ofSource)).toEqual(["fork"]);
    expect(await eventsOfHook(ofFork)).toEqual(["repository"]);
    expect(await webhookEventsOf(repo)).toMatchObject([
      { part: 0, payload: { forkee: { id: repo.id } } },
    ]);
    expect(await webhookEventsOf(fork)).toMatchObject([
      { part: 1, payload: { action: "created" } },
    ]);
  });

  it("reaches the owner's hooks for a deletion, and its payload is removed afterwards", async () => {
    const { owner, repo, own } = await makeScene();
    const [hook] = [
      await makeHook({
        level: "user",
        approverId: owner.id,
        ownerId: owner.id,
        events: ["repository"],
      }),
      await makeHook({ ...own, events: ["repository"] }),
    ];
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    await vi.waitFor(async () => {
      await dispatchAt(LATE);
      expect(await deliveriesOf(hook)).toHaveLength(1);
    });
    const [row] = await webhookEventsOf(repo);
    expect(row?.payload).toMatchObject({
      action: "deleted",
      repository: { id: repo.id, full_name: `${owner.name}/${repo.name}` },
      organization: { login: owner.name },
      sender: { login: owner.name },
    });
    const text = JSON.stringify(row);
    for (const secret of [repo.objectName, "passwordHash", "networkName"]) {
      expect(text).not.toContain(secret);
    }
    expect(text).not.toContain(owner.email);
    await vi.waitFor(async () => {
      const [event] = await db
        .select()
        .from(events)
        .where(eq(events.id, row?.eventId ?? 0));
      expect(event?.payload).toEqual({ name: repo.name });
    });
  });
});

describe("an event for which nobody has a hook", () => {
  it("is done, and the payload of what was deleted is removed", async () => {
    const { owner, repo } = await makeScene();
    const payload = { name: repo.name, lastPayload: { secret: "kept for its hooks" } };
    const id = await recordEvent(repo, owner, "repository.deleted", payload, LATE, LATE);
    const kept = await recordEvent(repo, owner, "star.created", payload, LATE, LATE);
    expect(await dispatchAt(LATE)).toEqual([]);
    const [event, other] = await db
      .select()
      .from(events)
      .where(inArray(events.id, [id, kept]))
      .orderBy(events.id);
    expect([event?.dispatchAt, event?.payload]).toEqual([null, { name: repo.name }]);
    expect([other?.dispatchAt, other?.payload]).toEqual([null, payload]);
  });

  it("does not hold up more events than are taken at once", async () => {
    const { owner, repo, own } = await makeScene();
    for (let count = 0; count < 60; count++) await created(repo, owner);
    const next = await makeScene();
    await makeHook({ ...next.own, events: ["repository"] });
    const last = await created(next.repo, next.owner);
    await dispatchAt(LATE);
    expect((await webhookEventsOf(next.repo)).map(({ eventId }) => eventId)).toEqual([last]);
    await makeHook({ ...own, events: ["repository"], createdAt: LATE });
    expect(await dispatchAt(LATE)).toEqual([]);
  });
});

describe("the cost of a dispatch", () => {
  async function roundTripsOf(now: number): Promise<number> {
    const { d1, usage } = meterD1(env.DB.withSession("first-primary"), { rows: false });
    const metered = { withSession: () => d1 } as unknown as Env["DB"];
    await dispatchAt(now, { DB: metered });
    return usage.rounds;
  }

  it("is few round trips", async () => {
    const { owner, repo, own } = await makeScene();
    const { main, some } = await makeHistory(repo);
    await dispatchAt(LATE - 1_000_000);
    expect(await roundTripsOf(LATE)).toBe(1);

    // Of its repository, its owner and the service, nobody has a hook.
    for (let count = 0; count < 40; count++) await created(repo, owner);
    expect(await roundTripsOf(LATE)).toBe(1);

    const other = await makeHook({ ...own, events: ["release"] });
    for (let count = 0; count < 40; count++) await created(repo, owner);
    expect(await roundTripsOf(LATE)).toBe(3);
    await db.update(hooks).set({ isActive: false }).where(eq(hooks.id, other.id));
    await created(repo, owner);
    expect(await roundTripsOf(LATE)).toBe(1);

    await makeHook({ ...own, events: ["push", "repository"] });
    await created(repo, owner);
    expect(await roundTripsOf(LATE)).toBe(5);

    const updates = [main, some].map((after, at) => ({
      ref: `refs/heads/${at}`,
      before: null,
      after,
    }));
    await recordEvent(
      repo,
      owner,
      "repository.pushed",
      { ...pushOf(), updates: updates.slice(1) },
      LATE,
      LATE,
    );
    expect(await roundTripsOf(LATE)).toBe(6);
    await recordEvent(repo, owner, "repository.pushed", { ...pushOf(), updates }, LATE, LATE);
    expect(await roundTripsOf(LATE)).toBe(7);
  });

  it("does not grow with the number of recipients", async () => {
    const { owner, repo, own } = await makeScene();
    const model = await makeHook({ ...own, events: ["repository"] });
    const names =
      "level, repo_id, approver_id, type, url, content_type, chat, events, is_active, created_at, updated_at";
    await db.run(
      sql`insert into hooks (${sql.raw(names)}) select ${sql.raw(names)} from hooks, (select value as copy from json_each(${JSON.stringify(Array.from({ length: 999 }, () => 0))})) where hooks.id = ${model.id}`,
    );
    await created(repo, owner);
    const { d1, usage } = meterD1(env.DB.withSession("first-primary"), { rows: false });
    const queued = await dispatchAt(LATE, {
      DB: { withSession: () => d1 } as unknown as Env["DB"],
    });
    expect([new Set(queued).size, usage.rounds, usage.calls]).toEqual([1000, 5, 5]);
    const [row] = await webhookEventsOf(repo);
    const made = await db
      .select({ hookId: hookDeliveries.hookId, uuid: hookDeliveries.uuid })
      .from(hookDeliveries)
      .where(eq(hookDeliveries.webhookEventId, row?.id ?? 0));
    expect([made.length, new Set(made.map(({ uuid }) => uuid)).size]).toEqual([1000, 1000]);
    await db.delete(hooks).where(eq(hooks.repoId, repo.id));
  });

  it("is split into batches if many refs meet many hooks", async () => {
    const { owner, repo, own } = await makeScene();
    const model = await makeHook({ ...own, events: ["create"] });
    const names =
      "level, repo_id, approver_id, type, url, content_type, chat, events, is_active, created_at, updated_at";
    await db.run(
      sql`insert into hooks (${sql.raw(names)}) select ${sql.raw(names)} from hooks, (select value as copy from json_each(${JSON.stringify(Array.from({ length: 209 }, () => 0))})) where hooks.id = ${model.id}`,
    );
    const updates = Array.from({ length: 50 }, (_, at) => ({
      ref: `refs/heads/b${at}`,
      before: null,
      after: "1".repeat(40),
    }));
    const payload = { pushId: crypto.randomUUID(), part: 0, refCount: 50, updates };
    const id = await recordEvent(repo, owner, "repository.pushed", payload, LATE, LATE);
    await dispatchAt(LATE);
    expect((await stateOf(id))[0]).toBeNull();
    const rows = await webhookEventsOf(repo);
    expect(rows).toHaveLength(50);
    const made = await db.$count(
      hookDeliveries,
      inArray(
        hookDeliveries.webhookEventId,
        rows.map((row) => row.id),
      ),
    );
    expect(made).toBe(50 * 210);
    await db.delete(hooks).where(eq(hooks.repoId, repo.id));
  });

  // Ten thousand commits are walked, and five read.
  it("does not grow with the number of pushed commits", async () => {
    const { owner, repo, own } = await makeScene();
    const history = new History();
    const oids: string[] = [];
    for (let at = 0; at < 10_000; at++) {
      oids.push(history.commit({ parents: oids.slice(-1), message: `${at}\n` }));
    }
    const [before = "", after = ""] = [oids[0], oids.at(-1)];
    const commands = [{ ref: "refs/heads/main", new: after }];
    await pushCommands(owner, repo, commands, { pack: history.build() });
    const hook = await makeHook(own);
    await dispatchAt(LATE - 1_000_000);
    await db.delete(hookDeliveries).where(eq(hookDeliveries.hookId, hook.id));
    const updates = [{ ref: "refs/heads/main", before, after }];
    await recordEvent(repo, owner, "repository.pushed", { ...pushOf(), updates }, LATE, LATE);
    const ctx = systemCtx({}, LATE);
    await dispatchEvents(ctx);
    expect(ctx.git.usage.objectCalls).toBe(1);
    expect(ctx.git.usage.r2Calls).toBeLessThan(12);
    expect((await webhookEventsOf(repo)).at(-1)?.payload).toMatchObject({
      total_commits: 9999,
      commits: [{ message: "9999\n" }, {}, {}, {}, { message: "9995\n" }],
    });
    expect(await deliveriesOf(hook)).toHaveLength(1);
  });
});

describe("a push of very many refs", () => {
  it("is dispatched ref by ref, each once", async () => {
    const { owner, repo, own } = await makeScene();
    const hook = await makeHook({ ...own, events: ["create"] });
    const history = new History();
    const oid = history.commit();
    const refs = Array.from(
      { length: 120 },
      (_, at) => `refs/heads/b${String(at).padStart(3, "0")}`,
    );
    const commands = refs.map((ref) => ({ ref, new: oid }));
    await pushCommands(owner, repo, commands, { pack: history.build() });
    await vi.waitFor(async () => {
      await dispatchAt(LATE);
      expect(await deliveriesOf(hook)).toHaveLength(120);
    });
    const names = (await webhookEventsOf(repo)).map(
      ({ payload }) => `refs/heads/${String(Reflect.get(payload, "ref"))}`,
    );
    expect(names).toEqual(refs);
  });
});
