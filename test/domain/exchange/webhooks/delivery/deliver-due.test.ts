import { eq } from "drizzle-orm";
import { describe, expect, inject, it } from "vitest";

import { seal } from "../../../../../src/auth/seal.ts";
import { hookDeliveries, hooks, repositories } from "../../../../../src/db/schema/index.ts";
import { SEALED_FOR } from "../../../../../src/domain/exchange/webhooks/hooks/hook-options.ts";
import { ATTEMPTS_MAX } from "../../../../../src/domain/exchange/webhooks/delivery/retry-schedule.ts";
import { db } from "../../../../support/db.ts";
import {
  clockAt,
  deliver,
  deliveriesOf,
  deliveryOf,
  hookAfter,
  IMPATIENT,
  makeDelivery,
  makeReceivedHook,
  openReceiver,
  SETTINGS,
} from "../../../../support/deliveries.ts";
import { make } from "../../../../support/make.ts";
import { systemCtx } from "../../../../support/system.ts";

const [here, there] = inject("receivers");
const NOW = Date.UTC(2026, 0, 31, 8, 15);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const sealed = (text: string, purpose: string) =>
  seal(systemCtx({}, 0, SETTINGS).config.sealingKeys, text, purpose);

describe("a delivery", () => {
  it("is sent once, signed, and its result is stored", async () => {
    const { hook, received } = await makeReceivedHook("200");
    const delivery = await makeDelivery(hook);
    expect(await deliver([hook.id], clockAt(NOW))).toEqual([]);
    expect(await deliver([hook.id], clockAt(NOW + DAY_MS))).toEqual([]);

    const requests = await received();
    expect(requests).toMatchObject([
      {
        method: "POST",
        isSigned: true,
        headers: {
          "content-type": "application/json",
          "x-gitea-delivery": delivery.uuid,
          "x-gitea-event": "repository",
          "user-agent": expect.stringMatching(/^Edgeforge/),
          "x-edgeforge-event-id": expect.stringMatching(/^\d+$/),
        },
      },
    ]);
    expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({ action: "created" });
    expect(await deliveryOf(hook)).toMatchObject({
      status: "succeeded",
      attemptCount: 1,
      nextAttemptAt: null,
      requestUrl: hook.url,
      requestHeaders: { "X-Gitea-Delivery": delivery.uuid, "X-Gitea-Event": "repository" },
      requestBody: null,
      responseStatus: 200,
      responseHeaders: { "transfer-encoding": "chunked" },
      responseBody: "as planned",
      failure: "",
      durationMs: 0,
      updatedAt: NOW,
    });
    expect(await hookAfter(hook)).toMatchObject({
      lastStatus: "succeeded",
      lastDeliveredAt: NOW,
      failingSince: null,
      failureCount: 0,
      backoffUntil: null,
      leasedUntil: null,
    });
  });

  it("carries the hook's authorization header, which is not stored", async () => {
    const { hook, received } = await makeReceivedHook("200", {
      authorization: await sealed("Bearer hunter2", SEALED_FOR.authorization),
    });
    await makeDelivery(hook);
    await deliver([hook.id]);
    expect(await received()).toMatchObject([{ headers: { authorization: "Bearer hunter2" } }]);
    expect(JSON.stringify(await deliveryOf(hook))).not.toMatch(/hunter2|uthorization/);
  });

  it("has the same id, bytes and signature on every attempt", async () => {
    const { hook, received } = await makeReceivedHook("500|404|200");
    const { id } = await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW));
    await deliver([hook.id], clockAt(NOW + MINUTE_MS));
    // The state that a redelivery leaves.
    await db
      .update(hookDeliveries)
      .set({ status: "pending", isRequested: true, attemptCount: 0, nextAttemptAt: NOW })
      .where(eq(hookDeliveries.id, id));
    await deliver([hook.id], clockAt(NOW + 2 * MINUTE_MS));
    const requests = await received();
    expect(requests).toHaveLength(3);
    const same = requests.map(({ body, headers, isSigned }) => ({ body, headers, isSigned }));
    expect(same[1]).toEqual(same[0]);
    expect(same[2]).toEqual(same[0]);
    expect(same[0]?.isSigned).toBe(true);
  });

  it("is sent as a form, with the signature over its JSON", async () => {
    const { hook, received } = await makeReceivedHook("200", { contentType: "form" });
    await makeDelivery(hook);
    await deliver([hook.id]);
    const [request] = await received();
    expect(request).toMatchObject({
      isSigned: true,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    const payload = new URLSearchParams(request?.body).get("payload") ?? "";
    expect(JSON.parse(payload)).toMatchObject({ action: "created" });
  });

  it("sends a message to a chat, and stores it", async () => {
    const { hook, received } = await makeReceivedHook("200", {
      type: "slack",
      chat: { channel: "#forge", username: "Forge" },
    });
    await makeDelivery(hook);
    await deliver([hook.id]);
    const [request] = await received();
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      channel: "#forge",
      username: "Forge",
      text: expect.stringContaining("Repository created"),
    });
    expect((await deliveryOf(hook)).requestBody).toBe(request?.body);
  });

  it("puts its id into the URL for Matrix", async () => {
    const { hook } = await makeReceivedHook("200");
    await db
      .update(hooks)
      .set({ type: "matrix", url: `${here}/echo?a=b` })
      .where(eq(hooks.id, hook.id));
    const { uuid } = await makeDelivery(hook);
    await deliver([hook.id]);
    const stored = await deliveryOf(hook);
    expect(stored).toMatchObject({
      status: "failed",
      requestUrl: `${here}/echo/${uuid}?a=b`,
      responseStatus: 404,
    });
    expect(JSON.parse(stored.requestBody ?? "")).toMatchObject({ msgtype: "m.notice" });
  });

  it("is not sent to a chat if the payload makes no message", async () => {
    const { hook, received } = await makeReceivedHook("200", { type: "discord" });
    await makeDelivery(hook, { event: "push", payload: { commits: [], repository: {} } });
    await deliver([hook.id]);
    expect(await received()).toEqual([]);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "succeeded",
      responseStatus: null,
      failure: "not sent: there is no chat message for this event",
    });
    expect((await hookAfter(hook)).lastStatus).toBe("none");
  });

  // SECURITY: an unsigned delivery would teach the receiver to accept forged ones.
  it.each([
    ["secret", `other:${"B".repeat(42)}A=`, /the key that sealed the webhook's secret$/],
    ["secret", `one:${"B".repeat(42)}A=`, /webhook's secret can't be unsealed; set it again$/],
    ["authorization", `other:${"B".repeat(42)}A=`, /sealed the webhook's authorization header$/],
  ] as const)("is not sent if the %s can't be unsealed", async (column, keys, reason) => {
    const { hook, received } = await makeReceivedHook("200", {
      secret: null,
      [column]: await sealed("hunter2", SEALED_FOR[column]),
    });
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW), { SEALING_KEYS: keys });
    expect(await received()).toEqual([]);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "failed",
      nextAttemptAt: null,
      failure: expect.stringMatching(reason),
    });
    expect(await hookAfter(hook)).toMatchObject({ lastStatus: "failed", failureCount: 0 });
  });

  it("is not sent once the hook's approver lost admin rights on its owner", async () => {
    const { hook, received } = await makeReceivedHook("200");
    const stranger = await make.user();
    await db.update(hooks).set({ approverId: stranger.id }).where(eq(hooks.id, hook.id));
    await makeDelivery(hook);
    const requested = await makeDelivery(hook, { isRequested: true });
    await deliver([hook.id], clockAt(NOW));
    const [unsent] = await deliveriesOf(hook);
    expect(unsent).toMatchObject({
      status: "failed",
      failure: expect.stringContaining("may no longer administer its owner"),
    });
    expect((await received()).map(({ headers }) => headers["x-gitea-delivery"])).toEqual([
      requested.uuid,
    ]);
  });

  it("stores no secret that the response echoes", async () => {
    const { hook } = await makeReceivedHook("200", {
      url: `${here}/echo`,
      authorization: await sealed("token hunter2", SEALED_FOR.authorization),
    });
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW));
    const { status, responseBody } = await deliveryOf(hook);
    expect(status).toBe("succeeded");
    expect(responseBody).toContain('"authorization":"…"');
    expect(responseBody).not.toContain("hunter2");
  });

  it("is not sent to an address that the configuration does not allow", async () => {
    const { hook, received } = await makeReceivedHook("200");
    await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW), { ALLOWED_HOST_LIST: "external" });
    expect(await received()).toEqual([]);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "failed",
      responseStatus: null,
      nextAttemptAt: null,
      failure: "127.0.0.1 leads to a loopback address, which ALLOWED_HOST_LIST does not hold",
    });
  });

  it("is retried after a bug in the service, and does not block later deliveries", async () => {
    const { hook, received } = await makeReceivedHook("200", { type: "discord" });
    await makeDelivery(hook, { payload: { of: "nothing known" } });
    const { uuid } = await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW));
    expect(await received()).toMatchObject([{ headers: { "x-gitea-delivery": uuid } }]);
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "pending", attemptCount: 1, failure: "not sent: the service failed" },
      { status: "succeeded" },
    ]);
  });
});

describe("a response", () => {
  it("is read and stored only up to a limit", async () => {
    const { hook } = await makeReceivedHook("large");
    await makeDelivery(hook);
    await deliver([hook.id]);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "succeeded",
      responseBody: "ü".repeat(8192),
    });
  });

  it("is stored as text, with few headers and no cookies, whatever its content", async () => {
    const { hook } = await makeReceivedHook("odd");
    await makeDelivery(hook);
    await deliver([hook.id]);
    const { responseBody, responseHeaders } = await deliveryOf(hook);
    expect(responseBody).toBe("a\ufffdb");
    expect(responseHeaders).toMatchObject({ "x-first": "1" });
    expect(responseHeaders).not.toHaveProperty("set-cookie");
    expect(JSON.stringify(responseHeaders).length).toBeLessThan(10_000);
  });

  it.each([400, 401, 404, 410, 422, 304])("with %d fails the delivery for good", async (status) => {
    const { hook } = await makeReceivedHook(String(status));
    await makeDelivery(hook);
    expect(await deliver([hook.id], clockAt(NOW))).toEqual([]);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "failed",
      attemptCount: 1,
      nextAttemptAt: null,
      responseStatus: status,
      failure: "",
    });
    expect(await hookAfter(hook)).toMatchObject({
      lastStatus: "failed",
      failingSince: NOW,
      failureCount: 1,
      backoffUntil: null,
      leasedUntil: null,
    });
  });

  it.each([408, 429, 500, 502, 503])("with %d is retried later", async (status) => {
    const { hook } = await makeReceivedHook(`${status}|200`);
    await makeDelivery(hook);
    expect(await deliver([hook.id], clockAt(NOW))).toEqual([{ hookId: hook.id, delaySeconds: 18 }]);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "pending",
      attemptCount: 1,
      nextAttemptAt: NOW + 17_500,
      responseStatus: status,
    });
    expect((await hookAfter(hook)).backoffUntil).toBeNull();
    await deliver([hook.id], clockAt(NOW + 17_000));
    expect((await deliveryOf(hook)).attemptCount).toBe(1);
    await deliver([hook.id], clockAt(NOW + 18_000));
    expect(await deliveryOf(hook)).toMatchObject({ status: "succeeded", attemptCount: 2 });
    expect(await hookAfter(hook)).toMatchObject({ failingSince: null, failureCount: 0 });
  });

  it.each([
    ["429", "120", 120],
    ["503", "120", 120],
    ["429", new Date(NOW + 90_000).toUTCString(), 90],
    ["429", "9999999", 12 * 60 * 60],
  ])("with %s and Retry-After %s makes the hook back off", async (status, wait, seconds) => {
    const { hook, received } = await makeReceivedHook(`${status}:${wait}|200`);
    for (const _ of [1, 2]) await makeDelivery(hook);
    const until = NOW + seconds * 1000;
    expect(await deliver([hook.id], clockAt(NOW))).toEqual([
      { hookId: hook.id, delaySeconds: seconds },
    ]);
    expect(await deliveriesOf(hook)).toMatchObject([
      { status: "pending", attemptCount: 1, nextAttemptAt: until },
      { status: "pending", attemptCount: 0 },
    ]);
    expect(await hookAfter(hook)).toMatchObject({ backoffUntil: until, leasedUntil: null });
    expect(await deliver([hook.id], clockAt(until - 1))).toEqual([]);
    expect(await received()).toHaveLength(1);
    await deliver([hook.id], clockAt(until));
    expect(await received()).toHaveLength(3);
  });

  it.each([
    ["hang", "no answer within 1 s"],
    ["break", "127.0.0.1 did not answer"],
    ["garbage", "127.0.0.1 did not answer"],
  ])(
    "that never arrives (%s) makes the hook back off, at the cost of one attempt each time",
    async (plan, failure) => {
      const { hook, received } = await makeReceivedHook(plan);
      for (const _ of [1, 2, 3]) await makeDelivery(hook);
      let now = NOW;
      for (const [at, seconds] of [10, 20, 40].entries()) {
        const [message] = await deliver([hook.id], clockAt(now), IMPATIENT);
        expect(await hookAfter(hook)).toMatchObject({
          failureCount: at + 1,
          failingSince: NOW,
          backoffUntil: now + seconds * 1000,
          leasedUntil: null,
        });
        expect(message?.delaySeconds).toBe(seconds);
        expect(await received()).toHaveLength(at + 1);
        now += seconds * 1000;
      }
      expect((await deliveriesOf(hook))[0]).toMatchObject({ failure, responseStatus: null });
    },
  );

  it("that redirects to another host is followed without signature and authorization", async () => {
    const { hook } = await makeReceivedHook("200");
    const target = openReceiver("200", there);
    const redirect = (to: string) => `${here}/redirect?status=307&to=${encodeURIComponent(to)}`;
    const authorization = await sealed("Bearer x", SEALED_FOR.authorization);
    await db
      .update(hooks)
      .set({ url: redirect(target.url), authorization })
      .where(eq(hooks.id, hook.id));
    const { uuid } = await makeDelivery(hook);
    await deliver([hook.id]);
    const [request] = await target.received();
    expect(request).toMatchObject({ method: "POST", headers: { "x-gitea-delivery": uuid } });
    // SECURITY: the other host does not share the secret.
    expect(Object.keys(request?.headers ?? {}).join()).not.toMatch(/signature|authorization/);
    expect(await deliveryOf(hook)).toMatchObject({ status: "succeeded", responseStatus: 200 });
  });

  it("that redirects to the same host is followed with the signature", async () => {
    const { hook, received } = await makeReceivedHook("200");
    await db
      .update(hooks)
      .set({ url: `${here}/redirect?status=308&to=${encodeURIComponent(hook.url)}` })
      .where(eq(hooks.id, hook.id));
    await makeDelivery(hook);
    await deliver([hook.id]);
    expect(await received()).toMatchObject([{ method: "POST", isSigned: true }]);
  });

  it("that redirects in a loop fails the delivery", async () => {
    const { hook } = await makeReceivedHook("200");
    await db
      .update(hooks)
      .set({ url: `${here}/loop` })
      .where(eq(hooks.id, hook.id));
    await makeDelivery(hook);
    await deliver([hook.id]);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "failed",
      failure: "more than 3 redirects",
    });
  });
});

describe("a delivery that keeps failing", () => {
  it("is given up after the last attempt, and stays listed", async () => {
    const { hook, received } = await makeReceivedHook("500");
    await makeDelivery(hook, { attemptCount: ATTEMPTS_MAX - 2 });
    await deliver([hook.id], clockAt(NOW));
    expect(await deliveryOf(hook)).toMatchObject({
      status: "pending",
      attemptCount: ATTEMPTS_MAX - 1,
    });
    await deliver([hook.id], clockAt(NOW + DAY_MS));
    await deliver([hook.id], clockAt(NOW + 2 * DAY_MS));
    expect(await received()).toHaveLength(2);
    expect(await deliveryOf(hook)).toMatchObject({
      status: "failed",
      attemptCount: ATTEMPTS_MAX,
      nextAttemptAt: null,
      responseStatus: 500,
    });
  });

  it("that waits for a retry is overtaken by later deliveries", async () => {
    const { hook, received } = await makeReceivedHook("500|200");
    const first = await makeDelivery(hook);
    const second = await makeDelivery(hook);
    await deliver([hook.id], clockAt(NOW));
    await deliver([hook.id], clockAt(NOW + MINUTE_MS));
    const order = (await received()).map(({ headers }) => headers["x-gitea-delivery"]);
    expect(order).toEqual([first.uuid, second.uuid, first.uuid]);
  });
});

describe("a deleted hook", () => {
  it.each(["hook", "repository"])(
    "leaves no deliveries: the %s is deleted during an attempt",
    async (what) => {
      const { hook, repo, received } = await makeReceivedHook("slow:300");
      for (const _ of [1, 2]) await makeDelivery(hook);
      const done = deliver([hook.id]);
      await expect.poll(received).toHaveLength(1);
      await (what === "hook"
        ? db.delete(hooks).where(eq(hooks.id, hook.id))
        : db.delete(repositories).where(eq(repositories.id, repo.id)));
      expect(await done).toEqual([]);
      expect(await received()).toHaveLength(1);
      expect(await deliveriesOf(hook)).toEqual([]);
    },
  );
});
