import { and, eq, isNotNull } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  hookDeliveries,
  repositories,
  type Hook,
} from "../../../../src/db/schema/index.ts";
import { maintainRepository } from "../../../../src/domain/git/maintain-repository.ts";
import { deliverDue } from "../../../../src/domain/webhooks/delivery/deliver-due.ts";
import { dispatchEvents } from "../../../../src/domain/webhooks/dispatch/dispatch-events.ts";
import { db } from "../../../support/db.ts";
import {
  clockAt,
  deliveriesOf,
  makeReceivedHook,
  openReceiver,
  SETTINGS,
} from "../../../support/deliveries.ts";
import { eventsOf, typesOf } from "../../../support/events.ts";
import { failEveryCall, failing, serveFailing } from "../../../support/faults.ts";
import { makeHook } from "../../../support/hooks.ts";
import { freshName, make } from "../../../support/make.ts";
import { makeCommit, pushRequest, refsOf } from "../../../support/push.ts";
import { systemCtx } from "../../../support/system.ts";

const HOUR_MS = 60 * 60 * 1000;

/** Bindings that work and wake nobody. */
const mute = () => failing({ at: Infinity, isDone: false, isDeath: false }).bindings;

/** Has everything told and delivered that waits, as the schedule would in the hours that follow. */
async function recover(hook: Hook): Promise<void> {
  for (const hour of [1, 2, 3]) {
    const at = Date.now() + hour * HOUR_MS;
    await dispatchEvents(systemCtx(mute(), at, SETTINGS));
    await deliverDue(systemCtx(mute(), at, SETTINGS), [hook.id], clockAt(at));
  }
}

/** What a receiver got, each delivery once, as its event and what `nameOf` says of its body. */
async function heardBy(receiver: Pick<ReturnType<typeof openReceiver>, "received">) {
  const list = await receiver.received();
  const byId = Map.groupBy(list, ({ headers }) => headers["x-gitea-delivery"] ?? "");
  // Whatever is sent again is the same to the byte.
  for (const same of byId.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  return [...byId.values()].map(([first]) => ({
    event: first?.headers["x-gitea-event"] ?? "",
    body: JSON.parse(first?.body ?? "null"),
  }));
}

const untoldOf = (repoId: number) =>
  db
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.repoId, repoId), isNotNull(events.dispatchAt)));

describe("whatever call fails, and if the Worker dies there", { timeout: 180_000 }, () => {
  it("a change is told of if it was made, and only then", async () => {
    const most = await failEveryCall(async (fault) => {
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

      const made = await db
        .select({ id: repositories.id })
        .from(repositories)
        .where(eq(repositories.ownerId, owner.id));
      expect(response?.status === 201 ? made.length : 1).toBe(1);
      await recover(hook);
      const heard = (await heardBy(receiver)).map(({ event, body: told }) => [
        event,
        told.action,
        told.repository.name,
      ]);
      expect(heard).toEqual(made.map(() => ["repository", "created", name]));
      return faults;
    });
    expect(most).toBeGreaterThan(2);
  });

  it("a push is told of if its ref was moved, once by one id", async () => {
    const most = await failEveryCall(async (fault) => {
      const { hook, repo, owner, received } = await makeReceivedHook("200");
      const { oid, pack } = makeCommit(freshName("text"));
      const faults = failing(fault);
      const request = pushRequest(owner, repo, oid, pack, "refs/heads/main");
      await serveFailing(request, faults.bindings);

      const isMade = (await refsOf(repo)).length > 0;
      await maintainRepository(systemCtx({}, Date.now() + HOUR_MS), repo);
      await recover(hook);
      expect(typesOf(await eventsOf(repo))).toEqual(isMade ? ["repository.pushed"] : []);
      const heard = (await heardBy({ received })).map(({ event, body }) => [event, body.after]);
      expect(heard).toEqual(isMade ? [["push", oid]] : []);
      return faults;
    });
    expect(most).toBeGreaterThan(5);
  });

  it("an event is handed out, and makes one delivery", async () => {
    const most = await failEveryCall(async (fault) => {
      const { hook, repo, owner, received } = await makeReceivedHook("200");
      const { oid, pack } = makeCommit(freshName("text"));
      // Nobody is woken.
      const request = pushRequest(owner, repo, oid, pack, "refs/heads/main");
      await serveFailing(request, mute());

      const faults = failing(fault);
      await dispatchEvents(systemCtx(faults.bindings, Date.now(), SETTINGS)).catch(() => {});
      await recover(hook);
      expect(await untoldOf(repo.id)).toEqual([]);
      expect(await deliveriesOf(hook)).toMatchObject([{ event: "push", status: "succeeded" }]);
      expect(await heardBy({ received })).toMatchObject([{ event: "push", body: { after: oid } }]);
      return faults;
    });
    expect(most).toBeGreaterThan(4);
  });

  it("a delivery arrives, by the same id however often it is sent", async () => {
    const most = await failEveryCall(async (fault) => {
      const { hook, repo, owner, received } = await makeReceivedHook("200");
      const { oid, pack } = makeCommit(freshName("text"));
      const request = pushRequest(owner, repo, oid, pack, "refs/heads/main");
      await serveFailing(request, mute());
      await dispatchEvents(systemCtx(mute(), Date.now(), SETTINGS));

      const faults = failing(fault);
      const ctx = systemCtx(faults.bindings, Date.now(), SETTINGS);
      ctx.outgoing = faults.outgoingOf(ctx.outgoing);
      await deliverDue(ctx, [hook.id]).catch(() => {});
      await recover(hook);
      expect(await deliveriesOf(hook)).toMatchObject([{ status: "succeeded" }]);
      expect(await heardBy({ received })).toMatchObject([{ event: "push", body: { after: oid } }]);
      // Never more often than it could not be known whether it had arrived.
      expect((await received()).length).toBeLessThanOrEqual(2);
      return faults;
    });
    expect(most).toBeGreaterThan(2);
  });
});

describe("messages that come twice and out of order", () => {
  it("deliver each thing once, in its order", async () => {
    const { hook, repo, owner, received } = await makeReceivedHook("200");
    const oids: string[] = [];
    for (let at = 0; at < 5; at++) {
      const { oid, pack } = makeCommit(freshName("text"));
      oids.push(oid);
      await serveFailing(pushRequest(owner, repo, oid, pack, `refs/heads/${at}`), mute());
    }
    const tell = () => dispatchEvents(systemCtx(mute(), Date.now(), SETTINGS));
    const deliver = () => deliverDue(systemCtx(mute(), Date.now(), SETTINGS), [hook.id]);
    // What is to be sent is asked for before it is handed out, beside it and after.
    await Promise.all([deliver(), tell(), deliver(), tell()]);
    await Promise.all([deliver(), deliver(), tell(), deliver()]);
    await deliver();
    const rows = await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, hook.id));
    expect(rows.map(({ status }) => status)).toEqual(oids.map(() => "succeeded"));
    const heard = await received();
    expect(heard.map(({ body }) => JSON.parse(body).after)).toEqual(oids);
  });
});
