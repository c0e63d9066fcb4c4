import { asc, eq, inArray, sql } from "drizzle-orm";
import { beforeAll, describe, expect, it, vi } from "vitest";

import { seal, unseal } from "../../../../src/auth/seal.ts";
import { parseConfig } from "../../../../src/config.ts";
import {
  actionSecrets,
  runnerRegistrationTokens,
  webhookEvents,
  hookDeliveries,
  hooks,
  type Hook,
  type HookDelivery,
} from "../../../../src/db/schema/index.ts";
import { deliverDue } from "../../../../src/domain/exchange/webhooks/delivery/deliver-due.ts";
import type { Ctx } from "../../../../src/context.ts";
import {
  findHooks,
  type HookTrigger,
} from "../../../../src/domain/exchange/webhooks/hooks/find-hooks.ts";
import { SEALED_FOR } from "../../../../src/domain/exchange/webhooks/hooks/hook-options.ts";
import { resealSecrets } from "../../../../src/domain/exchange/webhooks/hooks/reseal-secrets.ts";
import { sweepDeliveries } from "../../../../src/domain/exchange/webhooks/delivery/sweep-deliveries.ts";
import { handleSchedule } from "../../../../src/jobs/index.ts";
import { formatBase64 } from "../../../../src/lib/base64.ts";
import { db } from "../../../support/db.ts";
import { makeKeptDelivery, makeHook } from "../../../support/hooks.ts";
import { make } from "../../../support/make.ts";
import { systemCtx } from "../../../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const MAINTENANCE = "*/10 * * * *";
const FAR = Date.now() + 365 * DAY_MS;

/** Makes a user's own hook, to which nothing is delivered meanwhile. */
async function makeOwnHook(fields: Partial<Hook> = {}): Promise<Hook> {
  const user = await make.user();
  const own = { level: "user" as const, ownerId: user.id, approverId: user.id, leasedUntil: FAR };
  return makeHook({ ...own, ...fields });
}

describe("deliveries past the configured retention", () => {
  const now = Date.now();
  // Other files leave more young ones than a run examines.
  beforeAll(async () => {
    await db.batch([db.delete(hookDeliveries), db.delete(webhookEvents)]);
  });
  const remainingOf = async (made: HookDelivery[]) => {
    const left = await db
      .select({ id: hookDeliveries.id })
      .from(hookDeliveries)
      .where(
        inArray(
          hookDeliveries.id,
          made.map(({ id }) => id),
        ),
      )
      .orderBy(asc(hookDeliveries.id));
    return left.map(({ id }) => id);
  };
  const countWebhookEvents = async (made: HookDelivery[]) => {
    const ids = made.map(({ webhookEventId }) => webhookEventId);
    return (await db.select().from(webhookEvents).where(inArray(webhookEvents.id, ids))).length;
  };

  it("are deleted in any state, with their webhook events; newer ones stay", async () => {
    const hook = await makeOwnHook();
    const old = now - 30 * DAY_MS - 1000;
    const made = [
      await makeKeptDelivery(hook, { status: "failed", createdAt: old }),
      await makeKeptDelivery(hook, { status: "succeeded", createdAt: old }),
      // A redelivery was requested and not sent yet.
      await makeKeptDelivery(hook, {
        status: "pending",
        isRequested: true,
        nextAttemptAt: FAR,
        createdAt: old,
        updatedAt: now,
      }),
      await makeKeptDelivery(hook, { status: "failed", createdAt: now - 30 * DAY_MS + 1000 }),
      await makeKeptDelivery(hook, { status: "succeeded", createdAt: now }),
    ];
    const young = made.slice(3);

    await handleSchedule(MAINTENANCE, systemCtx({}, now));

    expect(await remainingOf(made)).toEqual(young.map(({ id }) => id));
    expect(await countWebhookEvents(made)).toBe(young.length);
    await handleSchedule(MAINTENANCE, systemCtx({}, now, { WEBHOOK_DELIVERY_DAYS: "29" }));
    expect(await remainingOf(made)).toEqual(young.slice(1).map(({ id }) => id));
    expect(await countWebhookEvents(made)).toBe(1);
  });

  it("are deleted for all recipients, and their webhook events even without recipients", async () => {
    const [one, other, gone] = [await makeOwnHook(), await makeOwnHook(), await makeOwnHook()];
    const createdAt = now - 31 * DAY_MS;
    const first = await makeKeptDelivery(one, { createdAt });
    const { webhookEventId } = first;
    const second = await db
      .insert(hookDeliveries)
      .values({
        hookId: other.id,
        webhookEventId,
        uuid: crypto.randomUUID(),
        event: "push",
        status: "failed",
        createdAt,
        updatedAt: createdAt,
      })
      .returning();
    const alone = await makeKeptDelivery(gone, { createdAt });
    await db.delete(hooks).where(eq(hooks.id, gone.id));

    await sweepDeliveries(systemCtx({}, now));

    expect(await remainingOf([first, ...second])).toEqual([]);
    expect(await countWebhookEvents([first, alone])).toBe(0);
  });

  it("are deleted in several rounds if there are many", async () => {
    // Removes old rows of other tests, and those of the far future, whose ids are smaller.
    const isFuture = sql`select id from webhook_events where created_at > ${now + DAY_MS}`;
    await db.batch([
      db.delete(hookDeliveries).where(sql`webhook_event_id in (${isFuture})`),
      db.delete(webhookEvents).where(sql`id in (${isFuture})`),
    ]);
    for (let runs = 0; runs < 10; runs++) await sweepDeliveries(systemCtx({}, now));
    const hook = await makeOwnHook();
    const createdAt = now - 31 * DAY_MS;
    const numbers = JSON.stringify(
      Array.from({ length: 1200 }, (_, at) => -4_000_000_000_000_000 - at),
    );
    await db.batch([
      db
        .insert(webhookEvents)
        .select(
          sql`select null, value, 0, 'push', 0, '{}', ${createdAt}, null from json_each(${numbers})`,
        ),
      db
        .insert(hookDeliveries)
        .select(
          sql`select null, ${hook.id}, id, 'u' || id, 'push', 'failed', 0, 0, null, 0, '', null, null, null, null, null, '', null, ${createdAt}, ${createdAt} from ${webhookEvents} where event_id in (select value from json_each(${numbers}))`,
        ),
    ]);
    const young = await makeKeptDelivery(hook);
    const ctx = systemCtx({}, now);
    const batch = vi.spyOn(ctx.db, "batch");

    await sweepDeliveries(ctx);

    const left = await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, hook.id));
    expect(left).toMatchObject([{ id: young.id }]);
    // The last round finds nothing.
    expect(batch.mock.calls.length).toBeGreaterThanOrEqual(4);
  });
});

describe("secrets sealed with an older key", () => {
  // The run reads all that is sealed: hooks of other tests lose their secrets.
  beforeAll(async () => {
    await db.update(hooks).set({ secret: null, authorization: null });
    await db.delete(actionSecrets);
    await db.delete(runnerRegistrationTokens);
  });
  const keyOf = (name: string, fill: number) =>
    `${name}:${formatBase64(new Uint8Array(32).fill(fill))}`;
  const [OLD, NEW, LOST] = [keyOf("old", 1), keyOf("new", 2), keyOf("lost", 3)];
  const keysOf = (SEALING_KEYS: string) => parseConfig({ SEALING_KEYS }).sealingKeys;

  /** Makes a hook whose secrets are sealed with the given keys. */
  async function makeSealed(keys: string, secret: string | null, authorization: string | null) {
    const sealed = (text: string | null, purpose: string) =>
      text === null ? null : seal(keysOf(keys), text, purpose);
    return makeOwnHook({
      secret: await sealed(secret, SEALED_FOR.secret),
      authorization: await sealed(authorization, SEALED_FOR.authorization),
    });
  }
  const read = async ({ id }: Hook) => (await db.select().from(hooks).where(eq(hooks.id, id)))[0];
  async function opened(hook: Hook, keys: string) {
    const row = await read(hook);
    const open = async (column: "secret" | "authorization") => {
      const sealed = row?.[column] ?? null;
      return sealed && unseal(keysOf(keys), sealed, SEALED_FOR[column]);
    };
    return [await open("secret"), await open("authorization")];
  }
  async function maintain(SEALING_KEYS: string): Promise<string[]> {
    const spy = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      await handleSchedule(MAINTENANCE, systemCtx({}, Date.now(), { SEALING_KEYS }));
      return spy.mock.calls.map(([line]) => String(line));
    } finally {
      spy.mockRestore();
    }
  }

  it("are sealed again with the first key, so that the older one can be removed", async () => {
    const both = await makeSealed(OLD, "s3cret", "Bearer x");
    const one = await makeSealed(OLD, null, "Bearer y");
    const newer = await makeSealed(NEW, "mine", null);
    const none = await makeOwnHook();
    const before = [await read(newer), await read(none)];

    expect(await maintain(`${NEW},${OLD}`)).toEqual([]);

    expect(await opened(both, NEW)).toEqual([
      { kind: "open", text: "s3cret" },
      { kind: "open", text: "Bearer x" },
    ]);
    expect(await opened(one, NEW)).toEqual([null, { kind: "open", text: "Bearer y" }]);
    expect([await read(newer), await read(none)]).toEqual(before);
    const after = await read(both);
    expect({ ...after, secret: "", authorization: "" }).toEqual({
      ...both,
      secret: "",
      authorization: "",
    });
    await maintain(`${NEW},${OLD}`);
    expect(await read(both)).toEqual(after);
  });

  it("are all sealed again, also if there are more than one batch holds", async () => {
    const hook = await makeSealed(OLD, "many", null);
    const { id: _id, ...row } = hook;
    const lost = await makeSealed(LOST, "lost", null);
    // Secrets that no key unseals do not stop the run.
    for (let at = 0; at < 104; at += 4) {
      const four = Array.from({ length: 4 }, () => ({
        ...row,
        secret: lost.secret,
        approverId: 0,
      }));
      await db.insert(hooks).values(four);
    }
    const made: { id: number }[] = [];
    for (let at = 0; at < 205; at += 4) {
      made.push(...(await db.insert(hooks).values([row, row, row, row]).returning()));
    }

    await maintain(`${NEW},${OLD}`);

    const rows = await db
      .select({ secret: hooks.secret })
      .from(hooks)
      .where(eq(hooks.approverId, hook.approverId));
    expect(rows).toHaveLength(made.length + 1);
    for (const { secret } of rows) expect(secret).toMatch(/^1\.new\./);
    await db.delete(hooks).where(eq(hooks.secret, lost.secret ?? ""));
  });

  it("stay unchanged if no key unseals them, and the log lists only their hooks", async () => {
    const lost = await makeSealed(LOST, "hunter2", "Bearer hunter2");
    const damaged = await makeSealed(OLD, "hunter2", null);
    await db
      .update(hooks)
      .set({ secret: `${damaged.secret?.slice(0, -8)}AAAAAAA=` })
      .where(eq(hooks.id, damaged.id));
    const fine = await makeSealed(OLD, "fine", null);
    const before = [await read(lost), await read(damaged)];

    const lines = await maintain(`${NEW},${OLD}`);

    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { event: "hooks:unsealable", hookCount: 2, hookIds: `${lost.id},${damaged.id}` },
    ]);
    expect([await read(lost), await read(damaged)]).toEqual(before);
    expect(await opened(fine, NEW)).toEqual([{ kind: "open", text: "fine" }, null]);
  });

  it("are not overwritten if they change meanwhile", async () => {
    const hook = await makeSealed(OLD, "before", null);
    const theirs = await seal(keysOf(NEW), "theirs", SEALED_FOR.secret);
    const ctx = systemCtx({}, Date.now(), { SEALING_KEYS: `${NEW},${OLD}` });
    const batch = ctx.db.batch.bind(ctx.db);
    vi.spyOn(ctx.db, "batch").mockImplementation(async (statements) => {
      await db.update(hooks).set({ secret: theirs }).where(eq(hooks.id, hook.id));
      return batch(statements);
    });

    await resealSecrets(ctx);

    expect((await read(hook))?.secret).toBe(theirs);
  });

  it("stay unchanged while there is at most one key", async () => {
    const hook = await makeSealed(OLD, "old", null);
    for (const keys of ["", NEW]) {
      expect(await maintain(keys)).toEqual([]);
      expect(await read(hook)).toEqual(hook);
    }
  });
});

describe("while webhooks are disabled", () => {
  it("no delivery is sent, and all stay pending", async () => {
    const hook = await makeOwnHook({ leasedUntil: null });
    const { id } = await makeKeptDelivery(hook, { status: "pending", nextAttemptAt: 1000 });
    const ctx = systemCtx({}, Date.now(), { DISABLE_WEBHOOKS: "true" });
    const sent = vi.spyOn(ctx.eventQueues, "deliverSoon");

    await deliverDue(ctx, [hook.id]);
    await handleSchedule("* * * * *", ctx);

    expect(sent).not.toHaveBeenCalled();
    expect(await db.select().from(hookDeliveries).where(eq(hookDeliveries.id, id))).toMatchObject([
      { status: "pending", attemptCount: 0, nextAttemptAt: 1000 },
    ]);
    expect(await db.select().from(hooks).where(eq(hooks.id, hook.id))).toEqual([hook]);
    const on = systemCtx({}, Date.now());
    const sentOn = vi.spyOn(on.eventQueues, "deliverSoon").mockResolvedValue();
    await handleSchedule("* * * * *", on);
    expect(sentOn.mock.calls.flatMap(([ids]) => ids)).toContain(hook.id);
  });

  it("no hook matches an event", async () => {
    const hook = await makeOwnHook({ leasedUntil: null });
    const trigger: HookTrigger = { event: "push", ownerId: hook.ownerId ?? 0, at: Date.now() };
    const matchingHooks = async (ctx: Ctx) => (await findHooks(ctx, [trigger]))(trigger);
    const off = systemCtx({}, Date.now(), { DISABLE_WEBHOOKS: "true" });

    expect(await matchingHooks(off)).toEqual([]);
    expect(await matchingHooks(systemCtx({}, Date.now()))).toMatchObject([{ id: hook.id }]);
  });
});
