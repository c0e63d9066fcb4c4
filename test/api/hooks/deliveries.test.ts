import { asc, desc, eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { events, hookDeliveries, hooks, type Hook } from "../../../src/db/schema/index.ts";
import { formatTime } from "../../../src/lib/time.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { deliver, makeDelivery, makeReceivedHook } from "../../support/deliveries.ts";
import { HOOK_OWNERS, type HookOwnerFixture } from "../../support/hook-owners.ts";
import { makeKeptDelivery, makeHook, PUSHED } from "../../support/hooks.ts";
import { make, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

/** Nothing is delivered to these: the tests look at what is asked for. */
const FAR = Date.now() + 3_600_000;
const SENT = {
  requestUrl: "https://receiver.example/hook",
  requestHeaders: { "Content-Type": "application/json", "X-Gitea-Event": "push" },
};
const ANSWERED = {
  ...SENT,
  responseStatus: 503,
  responseHeaders: { "retry-after": "7" },
  responseBody: "not now",
  durationMs: 12,
};

const hookOf = async (id: number) => (await db.select().from(hooks).where(eq(hooks.id, id)))[0];
const deliveriesOf = (hookId: number) =>
  db
    .select()
    .from(hookDeliveries)
    .where(eq(hookDeliveries.hookId, hookId))
    .orderBy(asc(hookDeliveries.id));
const eventsOf = (actor: TestUser) =>
  db.select().from(events).where(eq(events.actorId, actor.id)).orderBy(desc(events.id));
const idsIn = (body: { id: number }[]) => body.map(({ id }) => id);

/** A hook at a place, whose receiver is spared, so that nothing is sent while a test looks. */
async function makeHookAt(
  { row, admin }: HookOwnerFixture,
  fields: Partial<Hook> = {},
): Promise<Hook> {
  return makeHook({
    ...(row as Pick<Hook, "level" | "repoId" | "ownerId">),
    approverId: admin.id,
    leasedUntil: FAR,
    ...fields,
  });
}

describe.each(Object.entries(HOOK_OWNERS))("deliveries of a hook of a %s", (_, makeHookOwner) => {
  let hookOwner: HookOwnerFixture;
  let hook: Hook;
  let path: string;
  beforeEach(async () => {
    hookOwner = await makeHookOwner();
    hook = await makeHookAt(hookOwner);
    path = `${hookOwner.path}/${hook.id}/deliveries`;
  });
  const get = (rest = "") => call("GET", path + rest, { as: hookOwner.admin });
  const post = (rest: string, json?: object) =>
    call("POST", path + rest, { as: hookOwner.admin, ...(json && { json }) });

  it("are listed newest first, with their number and links", async () => {
    const at = Date.parse("2026-01-31T08:15:00Z");
    const made = [];
    for (const attemptCount of [1, 2, 3]) {
      made.push(await makeKeptDelivery(hook, { ...ANSWERED, attemptCount, createdAt: at }));
    }
    await makeKeptDelivery(await makeHookAt(hookOwner));
    const [oldest, middle, newest] = made;

    const all = await get();
    expect(all).toMatchObject({ status: 200 });
    expect(idsIn(all.body)).toEqual([newest?.id, middle?.id, oldest?.id]);
    expect(all.headers.get("X-Total-Count")).toBe("3");
    expect(all.body[0]).toEqual({
      id: newest?.id,
      uuid: newest?.uuid,
      event: "push",
      event_id: newest?.eventId,
      status: "failed",
      attempts: 3,
      next_attempt_at: null,
      is_requested: false,
      response_status: 503,
      failure: "",
      duration_ms: 12,
      created_at: "2026-01-31T08:15:00Z",
      updated_at: "2026-01-31T08:15:00Z",
    });
    const page = await get("?limit=1&page=2");
    expect(idsIn(page.body)).toEqual([middle?.id]);
    expect(page.headers.get("X-Total-Count")).toBe("3");
    expect(page.headers.get("Link")).toContain('page=3>; rel="next"');
    expect((await get("?page=9")).body).toEqual([]);
  });

  it("are listed by how they stand, by event, and by both", async () => {
    const push = await makeKeptDelivery(hook, { status: "succeeded" });
    const failed = await makeKeptDelivery(hook, { status: "failed" });
    const created = await makeKeptDelivery(hook, { status: "failed", event: "create" });
    const waiting = await makeKeptDelivery(hook, {
      status: "pending",
      event: "create",
      nextAttemptAt: FAR,
    });
    const expected: [string, { id: number }[]][] = [
      ["?status=failed", [created, failed]],
      ["?status=pending", [waiting]],
      ["?status=succeeded", [push]],
      ["?event=create", [waiting, created]],
      ["?event=wiki", []],
      ["?status=failed&event=create", [created]],
      ["?status=succeeded&event=create", []],
    ];
    for (const [query, listed] of expected) {
      const answer = await get(query);
      expect(idsIn(answer.body), query).toEqual(idsIn(listed));
      expect(answer.headers.get("X-Total-Count"), query).toBe(String(listed.length));
    }
    for (const query of ["?status=lost", "?status=", "?event=lunch", "?event=Push"]) {
      expect((await get(query)).status, query).toBe(422);
    }
  });

  it("tell what was sent and answered", async () => {
    const { id } = await makeKeptDelivery(hook, { ...ANSWERED, attemptCount: 1 });

    expect(await get(`/${id}`)).toMatchObject({
      status: 200,
      body: {
        id,
        status: "failed",
        request: {
          url: SENT.requestUrl,
          method: "POST",
          headers: SENT.requestHeaders,
          body: JSON.stringify(PUSHED, null, 2),
        },
        response: { status: 503, headers: { "retry-after": "7" }, body: "not now" },
      },
    });
  });

  it("are sent once more, with the same uuid, and it is announced", async () => {
    const made = await makeKeptDelivery(hook, {
      ...ANSWERED,
      status: "succeeded",
      attemptCount: 4,
    });
    await db.update(hooks).set({ backoffUntil: FAR, isActive: false }).where(eq(hooks.id, hook.id));

    const answer = await post(`/${made.id}/attempts`);

    expect(answer).toMatchObject({
      status: 202,
      body: {
        id: made.id,
        uuid: made.uuid,
        event_id: made.eventId,
        status: "pending",
        attempts: 0,
        is_requested: true,
        next_attempt_at: expect.any(String),
      },
    });
    const { eventId: _eventId, ...row } = made;
    expect(await deliveriesOf(hook.id)).toEqual([
      {
        ...row,
        status: "pending",
        isRequested: true,
        attemptCount: 0,
        nextAttemptAt: expect.any(Number),
        updatedAt: expect.any(Number),
      },
    ]);
    expect((await hookOf(hook.id))?.backoffUntil).toBeNull();
    expect(await eventsOf(hookOwner.admin)).toMatchObject([
      {
        type: "hook.redelivered",
        repoId: hook.repoId,
        payload: { hookId: hook.id },
      },
    ]);
  });

  it("are brought forward where they wait for another attempt", async () => {
    const { id } = await makeKeptDelivery(hook, {
      status: "pending",
      attemptCount: 7,
      nextAttemptAt: FAR,
    });
    expect(await post(`/${id}/attempts`)).toMatchObject({ status: 202, body: { attempts: 0 } });
    const [row] = await deliveriesOf(hook.id);
    expect(row?.nextAttemptAt).toBeLessThan(FAR);
  });

  it("are not sent twice where they are on their way, unless the receiver is spared", async () => {
    const { id } = await makeKeptDelivery(hook, { status: "pending", nextAttemptAt: 1000 });
    await db.update(hooks).set({ backoffUntil: 500 }).where(eq(hooks.id, hook.id));
    const before = await deliveriesOf(hook.id);

    expect(await post(`/${id}/attempts`)).toMatchObject({
      status: 409,
      body: { message: "the delivery is on its way" },
    });
    expect(await deliveriesOf(hook.id)).toEqual(before);
    expect(await hookOf(hook.id)).toEqual({ ...hook, backoffUntil: 500 });
    expect(await eventsOf(hookOwner.admin)).toEqual([]);

    await db.update(hooks).set({ backoffUntil: FAR }).where(eq(hooks.id, hook.id));
    expect((await post(`/${id}/attempts`)).status).toBe(202);
    expect((await hookOf(hook.id))?.backoffUntil).toBeNull();
  });

  it("that failed since a time are sent once more, all of them", async () => {
    const since = Date.parse("2026-01-31T08:15:00Z");
    const older = await makeKeptDelivery(hook, { createdAt: since - 1 });
    const first = await makeKeptDelivery(hook, { createdAt: since });
    const received = await makeKeptDelivery(hook, { status: "succeeded", createdAt: since });
    const second = await makeKeptDelivery(hook, { createdAt: since + 5000 });
    const foreign = await makeKeptDelivery(await makeHookAt(hookOwner), { createdAt: since });
    await db.update(hooks).set({ backoffUntil: FAR }).where(eq(hooks.id, hook.id));

    const answer = await post("/attempts", { since: "2026-01-31T10:15:00+02:00" });

    expect(answer).toMatchObject({ status: 202, body: { count: 2 } });
    expect(await deliveriesOf(hook.id)).toMatchObject([
      { id: older.id, status: "failed", nextAttemptAt: null },
      { id: first.id, uuid: first.uuid, status: "pending", isRequested: true, attemptCount: 0 },
      { id: received.id, status: "succeeded" },
      { id: second.id, uuid: second.uuid, status: "pending", isRequested: true },
    ]);
    expect(await deliveriesOf(foreign.hookId)).toMatchObject([{ status: "failed" }]);
    expect((await hookOf(hook.id))?.backoffUntil).toBeNull();
    expect(await eventsOf(hookOwner.admin)).toMatchObject([
      { type: "hook.redelivered", payload: { hookId: hook.id } },
    ]);
    expect(await post("/attempts", { since: formatTime(since) })).toMatchObject({
      status: 202,
      body: { count: 0 },
    });
    expect(await eventsOf(hookOwner.admin)).toHaveLength(1);
  });

  it.each([
    ["no time", {}],
    ["another word", { since: "yesterday" }],
    ["a day", { since: "2026-01-31" }],
    ["a time without a zone", { since: "2026-01-31T08:15:00" }],
    ["a number", { since: 1_000_000 }],
    ["null", { since: null }],
  ])("that failed are left alone for %s", async (_title, json) => {
    await makeKeptDelivery(hook);
    const before = await deliveriesOf(hook.id);

    expect((await post("/attempts", json)).status).toBe(422);
    expect(await deliveriesOf(hook.id)).toEqual(before);
    expect(await eventsOf(hookOwner.admin)).toEqual([]);
  });

  it("that failed are left alone where no body says since when", async () => {
    await makeKeptDelivery(hook);
    expect((await post("/attempts")).status).toBe(422);
    const broken = {
      as: hookOwner.admin,
      headers: { "Content-Type": "application/json" },
      body: "{",
    };
    expect((await call("POST", `${path}/attempts`, broken)).status).toBe(422);
    expect(await deliveriesOf(hook.id)).toMatchObject([{ status: "failed" }]);
    expect(await eventsOf(hookOwner.admin)).toEqual([]);
  });

  // SECURITY: an id counts together with its hook and its place only.
  it("do not exist elsewhere", async () => {
    const { id } = await makeKeptDelivery(hook);
    const other = await makeHookAt(hookOwner);
    const since = { since: "2020-01-31T08:15:00Z" };
    const before = [await deliveriesOf(hook.id), await hookOf(hook.id)];
    const elsewhere = `${hookOwner.elsewhere}/${hook.id}/deliveries`;

    const requests: [string, string, object?][] = [
      ["GET", elsewhere],
      ["GET", `${elsewhere}/${id}`],
      ["POST", `${elsewhere}/${id}/attempts`],
      ["POST", `${elsewhere}/attempts`, since],
      ["GET", `${hookOwner.path}/${other.id}/deliveries/${id}`],
      ["POST", `${hookOwner.path}/${other.id}/deliveries/${id}/attempts`],
      ["GET", `${path}/${id + 1_000_000}`],
      ["POST", `${path}/${id + 1_000_000}/attempts`],
      ["GET", `${hookOwner.path}/${hook.id + 1_000_000}/deliveries`],
      ["POST", `${hookOwner.path}/${hook.id + 1_000_000}/deliveries/attempts`, since],
    ];
    for (const [method, at, json] of requests) {
      const answer = await call(method, at, { as: hookOwner.admin, ...(json && { json }) });
      expect(answer, `${method} ${at}`).toMatchObject({ status: 404, body: "" });
    }
    expect([await deliveriesOf(hook.id), await hookOf(hook.id)]).toEqual(before);
    expect(await eventsOf(hookOwner.admin)).toEqual([]);
  });

  it("are nobody else's business", async () => {
    const { id } = await makeKeptDelivery(hook, ANSWERED);
    const before = [await deliveriesOf(hook.id), await hookOf(hook.id)];

    for (const { who, status } of hookOwner.refused) {
      const as = who && { as: who };
      const since = { since: "2020-01-31T08:15:00Z" };
      const statuses = [
        await call("GET", path, { ...as }),
        await call("GET", `${path}/${id}`, { ...as }),
        await call("POST", `${path}/${id}/attempts`, { ...as }),
        await call("POST", `${path}/attempts`, { ...as, json: since }),
      ].map((answer) => answer.status);
      expect(statuses).toEqual([status, status, status, status]);
      expect(who ? await eventsOf(who) : []).toEqual([]);
    }
    expect([await deliveriesOf(hook.id), await hookOf(hook.id)]).toEqual(before);
  });

  // SECURITY: what was sent may tell of more than such a token reaches.
  it("are neither told to a token that reaches less than they tell, nor sent for it", async () => {
    const { id } = await makeKeptDelivery(hook, ANSWERED);
    const before = await deliveriesOf(hook.id);
    const { admin } = hookOwner;
    const send = async (token: string) => [
      await call("GET", path, { token }),
      await call("GET", `${path}/${id}`, { token }),
      await call("POST", `${path}/${id}/attempts`, { token }),
      await call("POST", `${path}/attempts`, { token, json: { since: "2020-01-31T08:15:00Z" } }),
    ];
    const tooNarrow = [
      await make.token(admin, { repos: [await make.repo(admin)] }),
      await make.token(admin, { scopes: "write:issue,write:misc" }),
      // What is told of a public repository is public.
      ...(hook.level === "repository"
        ? []
        : [await make.token(admin, { scopes: "public-only,all" })]),
    ];
    for (const token of tooNarrow) {
      for (const { status } of await send(token)) expect([403, 404]).toContain(status);
    }
    const scopes = "read:repository,read:organization,read:user,read:admin";
    const reading = await send(await make.token(admin, { scopes }));
    expect(reading.map(({ status }) => status)).toEqual([200, 200, 403, 403]);
    expect(await deliveriesOf(hook.id)).toEqual(before);
    expect(await eventsOf(admin)).toEqual([]);
  });

  it("of other ids are not found", async () => {
    for (const id of ["0", "-1", "git", "%00", "..%2f1", "9".repeat(30), "x".repeat(5000)]) {
      expect((await get(`/${id}`)).status, id).toBe(404);
      expect((await post(`/${id}/attempts`)).status, id).toBe(404);
      const foreign = await call("GET", `${hookOwner.path}/${id}/deliveries`, {
        as: hookOwner.admin,
      });
      expect(foreign.status, id).toBe(404);
    }
  });
});

describe("what was sent", () => {
  const at = async (fields: Partial<Hook>) => {
    const admin = await make.user();
    const hook = await makeHook({
      level: "user",
      ownerId: admin.id,
      approverId: admin.id,
      leasedUntil: FAR,
      ...fields,
    });
    const show = async (delivery: Parameters<typeof makeKeptDelivery>[1]) => {
      const { id } = await makeKeptDelivery(hook, delivery);
      const answer = await call("GET", `/user/hooks/${hook.id}/deliveries/${id}`, { as: admin });
      expect(answer.status).toBe(200);
      return answer.body;
    };
    return { admin, hook, show };
  };

  it("is not there before the first attempt, nor is an answer where there was none", async () => {
    const { show } = await at({});
    expect(await show({ status: "pending", nextAttemptAt: FAR })).toMatchObject({
      request: null,
      response: null,
      failure: "",
    });
    expect(await show({ ...SENT, failure: "connection refused" })).toMatchObject({
      request: { url: SENT.requestUrl },
      response: null,
      response_status: null,
      failure: "connection refused",
    });
  });

  it("is the message, where it went to a chat", async () => {
    for (const type of ["slack", "discord", "msteams", "telegram", "feishu"] as const) {
      const { show } = await at({ type });
      const shown = await show({ ...ANSWERED, requestBody: '{\n  "text": "hi"\n}' });
      expect(shown.request).toMatchObject({ method: "POST", body: '{\n  "text": "hi"\n}' });
    }
    const { show } = await at({ type: "matrix" });
    expect((await show({ ...ANSWERED, requestBody: "{}" })).request).toMatchObject({
      method: "PUT",
      body: "{}",
    });
  });

  it("is the text that is signed, where it went as a form or to gogs", async () => {
    for (const fields of [{ contentType: "form" }, { type: "gogs" }] as const) {
      const { show } = await at(fields);
      expect((await show(ANSWERED)).request.body).toBe(JSON.stringify(PUSHED, null, 2));
    }
  });

  // SECURITY: it is not kept; should it be, it is not told.
  it("never tells the authorization", async () => {
    const { show } = await at({});
    const requestHeaders = { AUTHORIZATION: "Bearer hunter2", Accept: "*/*" };
    const shown = await show({ ...SENT, requestHeaders });
    expect(shown.request.headers).toEqual({ Accept: "*/*" });
    expect(JSON.stringify(shown)).not.toContain("hunter2");
  });
});

describe("very many deliveries that failed", () => {
  it("are sent once more by as many statements as it takes, in one batch", async () => {
    const admin = await make.user();
    const hook = await makeHook({
      level: "user",
      ownerId: admin.id,
      approverId: admin.id,
      leasedUntil: FAR,
    });
    await makeKeptDelivery(hook);
    const count = 1100;
    await db.run(
      sql`insert into announcements (event_id, part, event, repo_id, payload, created_at) select -5000000 - value, 0, 'push', 0, '{}', 1 from json_each(${JSON.stringify(Array.from({ length: count }, (_, at) => at + 1))})`,
    );
    await db.run(
      sql`insert into hook_deliveries (hook_id, announcement_id, uuid, event, status, created_at, updated_at) select ${hook.id}, id, 'u' || id, 'push', 'failed', 1, 1 from announcements where event_id < -5000000`,
    );
    const path = `/user/hooks/${hook.id}/deliveries/attempts`;

    const { answer, line } = await logged(() =>
      call("POST", path, { as: admin, json: { since: "1970-01-01T00:00:00Z" } }),
    );

    expect(answer).toMatchObject({ status: 202, body: { count: count + 1 } });
    expect(line.d1Rounds).toBe(3);
    const rows = await deliveriesOf(hook.id);
    expect(rows.filter(({ status }) => status === "pending")).toHaveLength(count + 1);
    expect(await eventsOf(admin)).toHaveLength(1);
  });
});

describe("a delivery that is sent once more", () => {
  it("comes to the receiver as it came at first, and as it is shown", async () => {
    const { hook, repo, owner, received } = await makeReceivedHook("404|200", { secret: null });
    const { id, uuid } = await makeDelivery(hook);
    await deliver([hook.id]);
    const path = `/repos/${owner.name}/${repo.name}/hooks/${hook.id}/deliveries/${id}`;
    const show = async () => (await call("GET", path, { as: owner })).body;
    const failed = await show();
    expect(failed).toMatchObject({ status: "failed", response: { status: 404 } });

    expect((await call("POST", `${path}/attempts`, { as: owner })).status).toBe(202);

    await vi.waitFor(async () => expect((await show()).status).toBe("succeeded"), 20_000);
    const requests = await received();
    expect(requests).toHaveLength(2);
    for (const { headers, body } of requests) {
      expect(headers["x-gitea-delivery"]).toBe(uuid);
      expect(body).toBe(failed.request.body);
    }
    const shown = await show();
    expect(shown).toMatchObject({ uuid, attempts: 1, response: { status: 200 } });
    expect(shown.request).toEqual(failed.request);
  });
});
