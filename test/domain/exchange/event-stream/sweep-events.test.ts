import { env } from "cloudflare:workers";
import { asc, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { openDatabase } from "../../../../src/db/db.ts";
import { meterD1 } from "../../../../src/db/meter.ts";
import { eventCursors, events, repositories, users } from "../../../../src/db/schema/index.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../../../src/domain/repos/repository/default-settings.ts";
import { sweepEvents } from "../../../../src/domain/exchange/event-stream/sweep-events.ts";
import { systemCtx } from "../../../support/system.ts";
import { migrate } from "../../../support/migrate.ts";

// A separate database, since a sweep is about all events.
const db = openDatabase(env.FORWARDING_DB.withSession());
await migrate(env.FORWARDING_DB);

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 0, 31);

beforeEach(async () => {
  for (const table of [eventCursors, events, repositories, users]) await db.delete(table);
});

/** Records an event of some days ago. */
const record = (id: number, days: number, fields: Partial<typeof events.$inferInsert> = {}) =>
  db.insert(events).values({
    id,
    type: "organization.created",
    actorId: 0,
    ownerId: 0,
    payload: { name: "made" },
    createdAt: NOW - days * DAY_MS,
    ...fields,
  });

const account = (id: number) => ({
  id,
  kind: "user" as const,
  name: `user-${id}`,
  lowerName: `user-${id}`,
  email: `user-${id}@example.com`,
  createdAt: 0,
  updatedAt: 0,
});

const repository = (id: number) => ({
  id,
  ownerId: id,
  objectName: `${id}`,
  networkName: `${id}`,
  name: "one",
  lowerName: "one",
  isPrivate: false,
  defaultBranch: "main",
  pullSettings: DEFAULT_PULL_SETTINGS,
  issueSettings: DEFAULT_ISSUE_SETTINGS,
  createdAt: 0,
  updatedAt: 0,
});

const sweep = (days: number, atOnce?: number, bindings = {}) =>
  sweepEvents(
    systemCtx({ DB: env.FORWARDING_DB, ...bindings }, NOW, { EVENT_RETENTION_DAYS: String(days) }),
    atOnce,
  );

const ids = async () =>
  (await db.select({ id: events.id }).from(events).orderBy(asc(events.id))).map(({ id }) => id);

describe("events past their retention", () => {
  it("are deleted, and no others", async () => {
    for (const [id, days] of [12, 11, 10, 9, 0].entries()) await record(id + 1, days);
    await sweep(10);
    expect(await ids()).toEqual([3, 4, 5]);
  });

  it("are kept where there is none, and go after a year without the setting", async () => {
    await record(1, 366);
    await record(2, 364);
    await sweep(0);
    expect(await ids()).toEqual([1, 2]);
    await sweepEvents(systemCtx({ DB: env.FORWARDING_DB }, NOW));
    expect(await ids()).toEqual([2]);
  });

  it("leave their last id with their repository and their owner", async () => {
    await db.insert(users).values([account(1), account(2)]);
    for (const id of [1, 2]) await db.insert(repositories).values(repository(id));
    await record(11, 20, { repoId: 1, ownerId: 1 });
    await record(12, 20, { repoId: 1, ownerId: 1 });
    await record(13, 20, { ownerId: 1 });
    await record(14, 5, { repoId: 2, ownerId: 2 });
    await sweep(10, 2);
    expect(await db.select({ id: users.id, last: users.sweptEventId }).from(users)).toEqual([
      { id: 1, last: 13 },
      { id: 2, last: 0 },
    ]);
    expect(
      await db.select({ id: repositories.id, last: repositories.sweptEventId }).from(repositories),
    ).toEqual([
      { id: 1, last: 12 },
      { id: 2, last: 0 },
    ]);
  });

  it("are deleted in rounds, and by several runs", async () => {
    for (let id = 1; id <= 50; id++) await record(id, 20);
    await record(51, 1);
    await sweep(10, 2);
    expect(await ids()).toHaveLength(11);
    await Promise.all([sweep(10, 2), sweep(10, 2)]);
    expect(await ids()).toEqual([51]);
  });

  it.each(["dispatchAt", "consequencesAt"] as const)(
    "stay from the first on of which %s is pending",
    async (column) => {
      await record(1, 20);
      await record(2, 20, { [column]: NOW });
      await record(3, 20);
      await sweep(10);
      expect(await ids()).toEqual([2, 3]);

      await db.update(events).set({ [column]: null });
      await sweep(10);
      expect(await ids()).toEqual([]);
    },
  );

  it("stay until they are forwarded to the operator's queue", async () => {
    const queue = { EVENTS_OUT: env.OPERATOR_QUEUE };
    for (const id of [1, 2, 3]) await record(id, 20);
    await sweep(10, undefined, queue);
    expect(await ids()).toEqual([1, 2, 3]);

    await db.insert(eventCursors).values({ name: "forwarding", lastId: 2 });
    await sweep(10, undefined, queue);
    expect(await ids()).toEqual([3]);

    // The queue is not bound any more.
    await sweep(10);
    expect(await ids()).toEqual([]);
  });

  // A walk past all that is pending would grow with the table.
  it("are found without reading those that stay", async () => {
    await record(1, 20, { dispatchAt: NOW });
    await db.run(sql`
      with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 3000)
      insert into events (id, type, actor_id, owner_id, payload, created_at)
      select n, 'star.created', 0, 0, '{}', ${NOW - 20 * DAY_MS} from numbers`);
    const { d1, usage } = meterD1(env.FORWARDING_DB.withSession(), { rows: true });
    const ctx = systemCtx({}, NOW, { EVENT_RETENTION_DAYS: "10" });

    await sweepEvents({ ...ctx, db: openDatabase(d1) });

    expect(await ids()).toHaveLength(3000);
    expect(usage).toMatchObject({ calls: 1, rowsWritten: 0 });
    expect(usage.rowsRead).toBeGreaterThan(0);
    expect(usage.rowsRead).toBeLessThan(20);
  });
});
