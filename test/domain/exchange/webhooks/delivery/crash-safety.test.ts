import { and, eq, isNotNull } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  hookDeliveries,
  repositories,
  type Hook,
} from "../../../../../src/db/schema/index.ts";
import { maintainRepository } from "../../../../../src/domain/code/git/maintain-repository.ts";
import { deliverDue } from "../../../../../src/domain/exchange/webhooks/delivery/deliver-due.ts";
import { dispatchEvents } from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { db } from "../../../../support/db.ts";
import {
  clockAt,
  deliveriesOf,
  makeDelivery,
  makeReceivedHook,
  openReceiver,
  SETTINGS,
} from "../../../../support/deliveries.ts";
import { eventsOf, typesOf } from "../../../../support/events.ts";
import { failCalls, failing, serveFailing } from "../../../../support/faults.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { freshName, make } from "../../../../support/make.ts";
import { makeCommit, pushRequest, refsOf } from "../../../../support/push.ts";
import { systemCtx } from "../../../../support/system.ts";

const HOUR_MS = 60 * 60 * 1000;

/** Bindings that work, except that queue messages are dropped. */
const silentBindings = () => failing({ at: Infinity, isDone: false, isDeath: false }).bindings;

/** Dispatches and delivers everything pending, as the schedule would in the following hours. */
async function recover(hook: Hook): Promise<void> {
  for (const hour of [1, 2, 3]) {
    const at = Date.now() + hour * HOUR_MS;
    await dispatchEvents(systemCtx(silentBindings(), at, SETTINGS));
    await deliverDue(systemCtx(silentBindings(), at, SETTINGS), [hook.id], clockAt(at));
  }
}

/** The deliveries that a receiver got, each once, as event and body. */
async function receivedBy(receiver: Pick<ReturnType<typeof openReceiver>, "received">) {
  const list = await receiver.received();
  const byId = Map.groupBy(list, ({ headers }) => headers["x-gitea-delivery"] ?? "");
  // Repeated attempts send the same bytes.
  for (const attempts of byId.values())
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
  return [...byId.values()].map(([first]) => ({
    event: first?.headers["x-gitea-event"] ?? "",
    body: JSON.parse(first?.body ?? "null"),
  }));
}

const undispatchedOf = (repoId: number) =>
  db
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.repoId, repoId), isNotNull(events.dispatchAt)));

describe("if any call fails, or the Worker dies at it", { timeout: 180_000 }, () => {
  it("an event is dispatched if and only if the change was stored", async () => {
    const callCount = await failCalls(async (fault) => {
      const owner = await make.user();
      const receiver = openReceiver("200");
      const fields = { level: "user", approverId: owner.id, ownerId: owner.id } as const;
      const hook = await makeHook({ ...fields, url: receiver.url, events: ["repository"] });
      const name = freshName("repo");
      const faults = failing(fault);
      const headers = {
        Authorization: `token ${owner.token}`,
        "Content-Type": "application/json",
      };
      const body = JSON.stringify({ name });
      const request = new Request("http://x/api/v1/user/repos", { method: "POST", headers, body });
      const response = await serveFailing(request, faults.bindings);

      const stored = await db
        .select({ id: repositories.id })
        .from(repositories)
        .where(eq(repositories.ownerId, owner.id));
      expect(response?.status === 201 ? stored.length : 1).toBe(1);
      await recover(hook);
      const deliveries = (await receivedBy(receiver)).map(({ event, body: payload }) => [
        event,
        payload.action,
        payload.repository.name,
      ]);
      expect(deliveries).toEqual(stored.map(() => ["repository", "created", name]));
      return faults;
    });
    expect(callCount).toBeGreaterThan(2);
  });

  it("a push is dispatched once, under one id, if its ref was updated", async () => {
    const callCount = await failCalls(async (fault) => {
      const { hook, repo, owner, received } = await makeReceivedHook("200");
      const { oid, pack } = makeCommit(freshName("text"));
      const faults = failing(fault);
      const request = pushRequest(owner, repo, oid, pack, "refs/heads/main");
      await serveFailing(request, faults.bindings);

      const isUpdated = (await refsOf(repo)).length > 0;
      await maintainRepository(systemCtx({}, Date.now() + HOUR_MS), repo);
      await recover(hook);
      expect(typesOf(await eventsOf(repo))).toEqual(isUpdated ? ["repository.pushed"] : []);
      const deliveries = (await receivedBy({ received })).map(({ event, body }) => [
        event,
        body.after,
      ]);
      expect(deliveries).toEqual(isUpdated ? [["push", oid]] : []);
      return faults;
    });
    expect(callCount).toBeGreaterThan(5);
  });

  it("an event is dispatched and makes one delivery", async () => {
    const callCount = await failCalls(async (fault) => {
      const { hook, repo, owner, received } = await makeReceivedHook("200");
      const { oid, pack } = makeCommit(freshName("text"));
      // No queue message starts the dispatch.
      const request = pushRequest(owner, repo, oid, pack, "refs/heads/main");
      await serveFailing(request, silentBindings());

      const faults = failing(fault);
      await dispatchEvents(systemCtx(faults.bindings, Date.now(), SETTINGS)).catch(() => {});
      await recover(hook);
      expect(await undispatchedOf(repo.id)).toEqual([]);
      expect(await deliveriesOf(hook)).toMatchObject([{ event: "push", status: "succeeded" }]);
      expect(await receivedBy({ received })).toMatchObject([
        { event: "push", body: { after: oid } },
      ]);
      return faults;
    });
    expect(callCount).toBeGreaterThan(4);
  });

  it("a delivery arrives, under the same id on each attempt", async () => {
    const callCount = await failCalls(async (fault) => {
      const { hook, repo, owner, received } = await makeReceivedHook("200");
      const { oid, pack } = makeCommit(freshName("text"));
      const request = pushRequest(owner, repo, oid, pack, "refs/heads/main");
      await serveFailing(request, silentBindings());
      await dispatchEvents(systemCtx(silentBindings(), Date.now(), SETTINGS));

      const faults = failing(fault);
      const ctx = systemCtx(faults.bindings, Date.now(), SETTINGS);
      ctx.outgoing = faults.outgoingOf(ctx.outgoing);
      await deliverDue(ctx, [hook.id]).catch(() => {});
      await recover(hook);
      expect(await deliveriesOf(hook)).toMatchObject([{ status: "succeeded" }]);
      expect(await receivedBy({ received })).toMatchObject([
        { event: "push", body: { after: oid } },
      ]);
      // A request is repeated only if it is unknown whether it had arrived.
      expect((await received()).length).toBeLessThanOrEqual(2);
      return faults;
    });
    expect(callCount).toBeGreaterThan(2);
  });
});

describe("if any call of a run with several hooks fails, or the Worker dies at it", () => {
  it(
    "all deliveries arrive, first in order, and few of them twice",
    { timeout: 180_000 },
    async () => {
      const callCount = await failCalls(async (fault) => {
        const hooks = await Promise.all([1, 2].map(() => makeReceivedHook("200")));
        const made = new Map<Hook, string[]>();
        for (const { hook } of hooks) {
          const uuids: string[] = [];
          for (const _ of [1, 2, 3, 4]) uuids.push((await makeDelivery(hook)).uuid);
          made.set(hook, uuids);
        }
        const faults = failing(fault);
        const ctx = systemCtx(faults.bindings, Date.now(), SETTINGS);
        ctx.outgoing = faults.outgoingOf(ctx.outgoing);
        await deliverDue(
          ctx,
          hooks.map(({ hook }) => hook.id),
        ).catch(() => {});
        for (const { hook, received } of hooks) {
          await recover(hook);
          const uuids = made.get(hook) ?? [];
          expect((await deliveriesOf(hook)).map(({ status }) => status)).toEqual(
            uuids.map(() => "succeeded"),
          );
          const arrived = (await received()).map(({ headers }) => headers["x-gitea-delivery"]);
          // An attempt of unknown outcome is repeated; if no response came, later ones overtake it.
          const seen = [...new Set(arrived)];
          expect(fault.isDeath ? seen : uuids.filter((uuid) => seen.includes(uuid))).toEqual(uuids);
          expect(seen).toHaveLength(uuids.length);
          for (const uuid of uuids) {
            expect(arrived.filter((each) => each === uuid).length).toBeLessThanOrEqual(2);
          }
        }
        return faults;
      });
      // The lease, eight requests, and the results.
      expect(callCount).toBeGreaterThan(9);
    },
  );
});

describe("queue messages that are repeated and out of order", () => {
  it("deliver each event once, in order", async () => {
    const { hook, repo, owner, received } = await makeReceivedHook("200");
    const oids: string[] = [];
    for (let at = 0; at < 5; at++) {
      const { oid, pack } = makeCommit(freshName("text"));
      oids.push(oid);
      await serveFailing(pushRequest(owner, repo, oid, pack, `refs/heads/${at}`), silentBindings());
    }
    const dispatch = () => dispatchEvents(systemCtx(silentBindings(), Date.now(), SETTINGS));
    const deliver = () => deliverDue(systemCtx(silentBindings(), Date.now(), SETTINGS), [hook.id]);
    // Deliveries are requested before, during and after the dispatch.
    await Promise.all([deliver(), dispatch(), deliver(), dispatch()]);
    await Promise.all([deliver(), deliver(), dispatch(), deliver()]);
    // The queue's own consumer may hold an earlier event of the repository, and these behind it;
    // and events of other tests may come first.
    for (let hour = 1; hour <= 24 && (await undispatchedOf(repo.id)).length > 0; hour++) {
      await dispatchEvents(systemCtx(silentBindings(), Date.now() + hour * HOUR_MS, SETTINGS));
    }
    await recover(hook);
    const rows = await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, hook.id));
    expect(rows.map(({ status }) => status)).toEqual(oids.map(() => "succeeded"));
    const deliveries = await received();
    expect(deliveries.map(({ body }) => JSON.parse(body).after)).toEqual(oids);
  });
});
