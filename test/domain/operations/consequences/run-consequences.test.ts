import { env } from "cloudflare:workers";
import { asc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { openDatabase } from "../../../../src/db/db.ts";
import { type D1, meterD1 } from "../../../../src/db/meter.ts";
import { events, users } from "../../../../src/db/schema/index.ts";
import {
  CONSEQUENCE_ATTEMPTS_MAX,
  CONSEQUENCE_LEASE_MS,
  runConsequences,
} from "../../../../src/domain/operations/consequences/run-consequences.ts";
import { requeueDue } from "../../../../src/domain/exchange/webhooks/delivery/requeue-due.ts";
import type { Consequence } from "../../../../src/events/consequence.ts";
import { record } from "../../../../src/events/record.ts";
import { only } from "../../../../src/lib/only.ts";
import { systemCtx } from "../../../support/system.ts";
import { migrate } from "../../../support/migrate.ts";

// A separate database, since the consequences of all events in it are drawn.
const db = openDatabase(env.FORWARDING_DB.withSession());

const NOW = 1_700_000_000_000;

beforeEach(async () => {
  await migrate(env.FORWARDING_DB);
  await db.delete(events);
});

const ctxAt = (now: number) => {
  const sent: unknown[] = [];
  const queue = { send: (message: unknown) => Promise.resolve(sent.push(message)) };
  const bindings = { DB: env.FORWARDING_DB, EVENT_JOBS: queue as unknown as typeof env.EVENT_JOBS };
  return Object.assign(systemCtx(bindings, now, { ROOT_URL: "https://forge.example" }), { sent });
};

/** Records opened pull requests in the given repositories, and returns the ids of the events. */
async function recordIn(repoIds: readonly number[], actorId = 0): Promise<number[]> {
  const ids: number[] = [];
  for (const repoId of repoIds) {
    const payload = { issueId: 7, isPull: true };
    const row = { type: "issue.opened", actorId, ownerId: 1, repoId, payload };
    const columns = { ...row, createdAt: NOW, consequencesAt: NOW };
    ids.push(only(await db.insert(events).values(columns).returning()).id);
  }
  return ids;
}

const pending = async (): Promise<number[]> =>
  (await db.select().from(events).orderBy(asc(events.id))).flatMap(({ id, consequencesAt }) =>
    consequencesAt === null ? [] : [id],
  );

/** A consequence of opened issues. */
const consequence = (handle: Consequence["handle"], name = "test"): Consequence => ({
  name,
  kinds: ["issue.opened"],
  handle,
});

describe("the consequences of events", () => {
  it("are drawn once, in the order of the events", async () => {
    const ids = await recordIn([1, 1, 1]);
    const seen: number[] = [];
    const list = [consequence((_ctx, { id }) => Promise.resolve(void seen.push(id)))];
    await runConsequences(ctxAt(NOW), list);
    await runConsequences(ctxAt(NOW), list);
    expect(seen).toEqual(ids);
    expect(await pending()).toEqual([]);
  });

  it("are marked when the event is recorded, and not for kinds without any", async () => {
    const ctx = ctxAt(NOW);
    const ofIssue = { repoId: 1, ownerId: 1, issueId: 1, number: 1, isPull: false };
    await ctx.db.batch([
      record(ctx, { type: "issue.opened", ...ofIssue }),
      record(ctx, { type: "issue.pinned", ...ofIssue }),
    ]);
    const rows = await db.select().from(events).orderBy(asc(events.id));
    expect(rows.map(({ consequencesAt }) => consequencesAt)).toEqual([NOW, null]);
  });

  it("do not concern events that were recorded before there were consequences", async () => {
    const [id = 0] = await recordIn([1]);
    await db.update(events).set({ consequencesAt: null }).where(eq(events.id, id));
    const handle = vi.fn<() => Promise<unknown>>(() => Promise.resolve(undefined));
    await runConsequences(ctxAt(NOW), [consequence(handle)]);
    expect(handle).not.toHaveBeenCalled();
  });

  it("continue from the state of the last step, also after the Worker died", async () => {
    await recordIn([1]);
    const states: unknown[] = [];
    const neverAnswered = new Promise<undefined>(() => {});
    const dying = consequence((_ctx, _event, _budget, state) => {
      states.push(state);
      return state === 2
        ? neverAnswered
        : Promise.resolve(((state as number | undefined) ?? 0) + 1);
    });
    // The call never ends, like that of a Worker that died.
    void runConsequences(ctxAt(NOW), [dying]);
    await vi.waitFor(() => expect(states).toEqual([undefined, 1, 2]), 10_000);

    const rest: unknown[] = [];
    const finishing = consequence((_ctx, _event, _budget, state) => {
      rest.push(state);
      return Promise.resolve((state as number) < 4 ? (state as number) + 1 : undefined);
    });
    await runConsequences(ctxAt(NOW + 60_000), [finishing]);
    expect(rest).toEqual([]);
    await runConsequences(ctxAt(NOW + CONSEQUENCE_LEASE_MS + 60_000), [finishing]);
    expect(rest).toEqual([2, 3, 4]);
    expect(await pending()).toEqual([]);
  });

  it("are retried without stopping other repositories, and given up at last", async () => {
    const [bad = 0, behind = 0, other = 0] = await recordIn([1, 1, 2]);
    const seen: number[] = [];
    const list = [
      consequence((_ctx, { id }) => {
        seen.push(id);
        return id === bad ? Promise.reject(new Error("broken")) : Promise.resolve();
      }),
    ];
    await runConsequences(ctxAt(NOW), list);
    expect(seen.toSorted((a, b) => a - b)).toEqual([bad, other]);
    expect(await pending()).toEqual([bad, behind]);

    const log = vi.spyOn(console, "log");
    let now = NOW;
    for (let attempt = 1; attempt < CONSEQUENCE_ATTEMPTS_MAX; attempt++) {
      now += 2 * 60 * 60 * 1000;
      await runConsequences(ctxAt(now), list);
    }
    expect(seen.filter((id) => id === bad)).toHaveLength(CONSEQUENCE_ATTEMPTS_MAX);
    expect(log.mock.calls.flat().join("\n")).toContain('"event":"consequences:given-up"');
    log.mockRestore();
    await runConsequences(ctxAt(now), list);
    expect(seen.at(-1)).toBe(behind);
    expect(await pending()).toEqual([]);
  });

  it("are given up if each attempt ends the Worker", async () => {
    await recordIn([1]);
    const started = vi.fn<() => Promise<unknown>>(() => new Promise<undefined>(() => {}));
    for (let attempt = 0; attempt < CONSEQUENCE_ATTEMPTS_MAX; attempt++) {
      void runConsequences(ctxAt(NOW + attempt * 2 * CONSEQUENCE_LEASE_MS), [consequence(started)]);
      await vi.waitFor(() => expect(started).toHaveBeenCalledTimes(attempt + 1), 10_000);
    }
    await runConsequences(ctxAt(NOW + 10 ** 9), [consequence(started)]);
    expect(started).toHaveBeenCalledTimes(CONSEQUENCE_ATTEMPTS_MAX);
    expect(await pending()).toEqual([]);
  });

  it("do not depend on one another: only the one that failed is repeated", async () => {
    await recordIn([1]);
    const done = vi.fn<() => Promise<unknown>>(() => Promise.resolve(undefined));
    let isBroken = true;
    const broken = vi.fn<() => Promise<unknown>>(() =>
      isBroken ? Promise.reject(new Error("broken")) : Promise.resolve(),
    );
    const list = [consequence(broken, "broken"), consequence(done, "done")];
    await runConsequences(ctxAt(NOW), list);
    isBroken = false;
    await runConsequences(ctxAt(NOW + 60 * 60 * 1000), list);
    expect(done).toHaveBeenCalledTimes(1);
    expect(broken).toHaveBeenCalledTimes(2);
    expect(await pending()).toEqual([]);
  });

  it("take turns by repository, so that a long one does not hold up the others", async () => {
    const ids = await recordIn([1, 2, 3, 4, 5, 6]);
    const seen: number[] = [];
    const long = new Set(ids.slice(0, 5));
    const list = [
      consequence((_ctx, { id }, _budget, state) => {
        seen.push(id);
        const step = ((state as number | undefined) ?? 0) + 1;
        return Promise.resolve(long.has(id) && step < 20 ? step : undefined);
      }),
    ];
    await runConsequences(ctxAt(NOW), list);
    expect(seen).toHaveLength(101);
    expect(seen.indexOf(only(ids.slice(5)))).toBeLessThan(20);
  });

  it("are drawn by one of several calls at once", async () => {
    const ids = await recordIn(Array.from({ length: 20 }, (_, at) => at % 4));
    const seen: number[] = [];
    const list = [
      consequence(async (_ctx, { id }) => {
        await db.select().from(events).limit(1);
        seen.push(id);
      }),
    ];
    await Promise.all(Array.from({ length: 4 }, () => runConsequences(ctxAt(NOW), list)));
    expect(seen.toSorted((a, b) => a - b)).toEqual(ids);
  });

  it("take two calls of the database for all events of a moment", async () => {
    const ids = await recordIn(Array.from({ length: 20 }, (_, at) => at % 4));
    const ctx = ctxAt(NOW);
    const { d1, usage } = meterD1(env.FORWARDING_DB.withSession(), { rows: false });
    const seen: number[] = [];
    const list = [consequence((_ctx, { id }) => Promise.resolve(void seen.push(id)))];
    await runConsequences({ ...ctx, db: openDatabase(d1) }, list);
    expect(seen.toSorted((a, b) => a - b)).toEqual(ids);
    expect([usage.calls, await pending()]).toEqual([2, []]);
  });

  it.each([
    ["refers to an issue, as far as is known", {}, 2],
    ["refers to nothing", { hasNoReferences: true }, 1],
  ])(
    "of a push take few calls where no pull request, queue or mirror is: it %s",
    async (_, known, calls) => {
      const update = { ref: "refs/heads/main", before: "1".repeat(40), after: "2".repeat(40) };
      const payload = { pushId: crypto.randomUUID(), part: 0, updates: [{ ...update, ...known }] };
      const row = { type: "repository.pushed", actorId: 0, ownerId: 1, repoId: 1, payload };
      await db.insert(events).values({ ...row, createdAt: NOW, consequencesAt: NOW });
      const { d1, usage } = meterD1(env.FORWARDING_DB.withSession(), { rows: false });
      await runConsequences({ ...ctxAt(NOW), db: openDatabase(d1) });
      expect([usage.calls, await pending()]).toEqual([calls, []]);
    },
  );

  it("of events that are done stay done if a later one ends the call", async () => {
    const [first = 0, second = 0] = await recordIn([1, 1]);
    const d1 = env.FORWARDING_DB.withSession();
    const failing: D1 = {
      prepare: (query) => {
        // What postpones the event that failed.
        if (query.startsWith('update "events" set "consequences_at" = ?,')) throw new Error("away");
        return d1.prepare(query);
      },
      batch: (statements) => d1.batch(statements),
    };
    const list = [
      consequence((_ctx, { id }) =>
        id === second ? Promise.reject(new Error("broken")) : Promise.resolve(),
      ),
    ];
    const run = runConsequences({ ...ctxAt(NOW), db: openDatabase(failing) }, list);
    await expect(run).rejects.toThrow("away");
    expect(await pending()).toEqual([second]);
    expect(first).toBeLessThan(second);
  });

  it("leave the rest to another call when the budget is exhausted", async () => {
    await recordIn([1]);
    const list = [
      consequence((_ctx, _event, budget, state) => {
        budget.consume(600);
        return Promise.resolve(state === 2 ? undefined : ((state as number | undefined) ?? 0) + 1);
      }),
    ];
    for (const [run, left] of [1, 1, 0].entries()) {
      const ctx = ctxAt(NOW + run * 10_000);
      await runConsequences(ctx, list);
      expect(ctx.sent).toEqual([{ kind: "dispatch" }]);
      expect(await pending()).toHaveLength(left);
    }
  });

  it("are started again by the schedule if their message was lost", async () => {
    await recordIn([1]);
    for (const [now, messages] of [
      [NOW - 1, []],
      [NOW, [{ kind: "dispatch" }]],
    ] as const) {
      const ctx = ctxAt(now);
      await requeueDue(ctx);
      expect(ctx.sent).toEqual(messages);
    }
    await runConsequences(ctxAt(NOW), []);
    const idle = ctxAt(NOW);
    await requeueDue(idle);
    expect(idle.sent).toEqual([]);
  });

  it("have what they record dispatched afterwards", async () => {
    await recordIn([1]);
    const ctx = ctxAt(NOW);
    const recording = consequence(async (acting) => {
      await record(acting, { type: "repository.archived", ownerId: 1, repoId: 1 });
    });
    await runConsequences(ctx, [recording]);
    expect(ctx.sent).toEqual([{ kind: "dispatch" }]);
    const idle = ctxAt(NOW);
    await runConsequences(idle, [recording]);
    expect(idle.sent).toEqual([]);
  });

  it("act as the account that caused the event, with its present rights", async () => {
    const name = `user-${crypto.randomUUID().slice(0, 8)}`;
    const account = { kind: "user" as const, name, lowerName: name, createdAt: 1, updatedAt: 1 };
    const user = only(await db.insert(users).values(account).returning());
    const seen: unknown[] = [];
    const list = [
      consequence(({ actor }) =>
        Promise.resolve(void seen.push([actor.user?.id, actor.isSiteAdmin])),
      ),
    ];
    const draw = async () => {
      await recordIn([1], user.id);
      await runConsequences(ctxAt(NOW), list);
    };
    await draw();
    await db.update(users).set({ isAdmin: true }).where(eq(users.id, user.id));
    await draw();
    await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, user.id));
    await draw();
    expect(seen).toEqual([
      [user.id, false],
      [user.id, true],
      [undefined, false],
    ]);
  });
});
