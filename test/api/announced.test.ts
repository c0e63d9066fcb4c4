import { and, asc, eq, gt, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, users } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { EVENT_PAYLOADS, toEvent, type EventKind } from "../../src/shapes/events/event.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { typesOf } from "../support/events.ts";
import { make, type TestUser } from "../support/make.ts";
import { byId, sampled } from "../support/samples/gather.ts";
import { type ReadyRequest, requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

const writes = sampled.flatMap(({ sample, ...operation }) =>
  sample.announces ? [{ ...operation, sample, announces: sample.announces }] : [],
);
const undoable = writes.flatMap((operation) => {
  const undo = sampled.find(({ id }) => id === operation.announces.undoneBy);
  return undo ? [{ ...operation, undo }] : [];
});

const NOBODY = { userId: undefined, isSiteAdmin: false, rootUrl: "", noReplyDomain: "" };

const lastId = async (): Promise<number> =>
  only(await db.select({ id: sql<number>`coalesce(max(id), 0)`.as("id") }).from(events)).id;

/** Sends a request, and says which kinds of events it recorded. */
async function announcedBy({ method, path, content, caller }: ReadyRequest, token = caller.token) {
  const before = await lastId();
  const answer = await call(method, path, { token, ...content });
  const recorded = await db
    .select()
    .from(events)
    .where(and(eq(events.actorId, caller.id), gt(events.id, before)))
    .orderBy(asc(events.id));
  for (const event of recorded) {
    const { payload } = toEvent({ event, actor: undefined, repo: undefined }, NOBODY);
    const { shape } = EVENT_PAYLOADS[event.type as EventKind];
    expect(Object.keys(payload).toSorted(), event.type).toEqual(Object.keys(shape).toSorted());
  }
  return { status: answer.status, kinds: typesOf(recorded), answer };
}

describe("the events of each write", () => {
  it.each(byId(writes))("are those of its change: %s", async (_, operation) => {
    const request = await requestIn(new World(), operation);
    const { first, again = [] } = operation.announces;

    const token = await make.token(only(await selectUser(request.caller)), { scopes: "read:user" });
    const refused = await announcedBy(request, token);
    const [leastStatus, nextStatus] = operation.sample.needsNoScope ? [200, 300] : [403, 404];
    expect(refused.status).toBeGreaterThanOrEqual(leastStatus);
    expect(refused.status).toBeLessThan(nextStatus);
    expect(refused.kinds).toEqual([]);

    const done = await announcedBy(request);
    expect(done.status, JSON.stringify(done.answer.body)).toBeLessThan(300);
    expect(done.kinds).toEqual(first);

    const repeated = await announcedBy(request);
    expect(repeated.status).toBeLessThan(500);
    expect(repeated.kinds).toEqual(again);
  });

  it.each(byId(undoable))("come again once it is undone: %s", async (_, operation) => {
    const { undo } = operation;
    const { first } = operation.announces;
    const request = await requestIn(new World(), operation);
    expect((await announcedBy(request)).kinds).toEqual(first);
    const undone = await announcedBy({ ...request, method: undo.method, content: {} });
    expect(undone.kinds).toEqual(undo.sample.announces?.first);
    expect((await announcedBy(request)).kinds).toEqual(first);
    expect((await announcedBy(request)).kinds).toEqual([]);
  });
});

const selectUser = (user: TestUser) => db.select().from(users).where(eq(users.id, user.id));
