import { and, asc, eq, gt, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { z } from "zod";

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

const ANONYMOUS_VIEWER = { userId: undefined, isSiteAdmin: false, rootUrl: "", noReplyDomain: "" };

const lastId = async (): Promise<number> =>
  only(await db.select({ id: sql<number>`coalesce(max(id), 0)`.as("id") }).from(events)).id;

/** Recorded by a job, or by the next request that needs the pull request, whichever comes first. */
const OF_EARLIER_PUSH = "pull.synchronized";

/** Sends a request, and returns the kinds of events that it recorded. */
async function recordedBy({ method, path, content, caller }: ReadyRequest, token = caller.token) {
  const before = await lastId();
  const answer = await call(method, path, { token, ...content });
  const recorded = await db
    .select()
    .from(events)
    .where(and(eq(events.actorId, caller.id), gt(events.id, before)))
    .orderBy(asc(events.id));
  for (const event of recorded) {
    const { payload } = toEvent({ event, actor: undefined, repo: undefined }, ANONYMOUS_VIEWER);
    const { shape } = EVENT_PAYLOADS[event.type as EventKind];
    const isOptional = (name: string): boolean =>
      (shape as Record<string, z.ZodType>)[name]?.safeParse(undefined).success === true;
    const expected = Object.keys(shape).filter((name) => name in payload || !isOptional(name));
    expect(Object.keys(payload).toSorted(), event.type).toEqual(expected.toSorted());
  }
  const kinds = typesOf(recorded).filter((kind) => kind !== OF_EARLIER_PUSH);
  return { status: answer.status, kinds, answer };
}

describe("the events of each write", () => {
  it.each(byId(writes))("match its change: %s", async (_, operation) => {
    const request = await requestIn(new World(), operation);
    const { first, again = [] } = operation.announces;

    const token = await make.token(only(await selectUser(request.caller)), { scopes: "read:user" });
    const refused = await recordedBy(request, token);
    const [leastStatus, nextStatus] = operation.sample.needsNoScope ? [200, 300] : [403, 404];
    expect(refused.status).toBeGreaterThanOrEqual(leastStatus);
    expect(refused.status).toBeLessThan(nextStatus);
    expect(refused.kinds).toEqual([]);

    const done = await recordedBy(request);
    const outcome = done.status < 300 ? "success" : done.status;
    const expected = operation.sample.refusal?.status ?? "success";
    expect(outcome, JSON.stringify(done.answer.body)).toBe(expected);
    expect(done.kinds).toEqual(first);

    const repeated = await recordedBy(request);
    expect(repeated.status).toBeLessThan(500);
    expect(repeated.kinds).toEqual(again);
  });

  it.each(byId(undoable))("are recorded again after an undo: %s", async (_, operation) => {
    const { undo } = operation;
    const { first } = operation.announces;
    const request = await requestIn(new World(), operation);
    expect((await recordedBy(request)).kinds).toEqual(first);
    const undone = await recordedBy({ ...request, method: undo.method, content: {} });
    expect(undone.kinds).toEqual(undo.sample.announces?.first);
    expect((await recordedBy(request)).kinds).toEqual(first);
    expect((await recordedBy(request)).kinds).toEqual([]);
  });
});

const selectUser = (user: TestUser) => db.select().from(users).where(eq(users.id, user.id));
