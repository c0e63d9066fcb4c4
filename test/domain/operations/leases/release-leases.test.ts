import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { openDatabase } from "../../../../src/db/db.ts";
import {
  accountDeletions,
  events,
  type Hook,
  hooks,
  repositories,
  users,
} from "../../../../src/db/schema/index.ts";
import { releaseLeases } from "../../../../src/domain/operations/leases/release-leases.ts";
import { requeueDue } from "../../../../src/domain/exchange/webhooks/delivery/requeue-due.ts";
import { only } from "../../../../src/lib/only.ts";
import type { EventJob } from "../../../../src/storage/event-queues.ts";
import { migrate } from "../../../support/migrate.ts";
import { systemCtx } from "../../../support/system.ts";

// A separate database, since all leases in it end.
const db = openDatabase(env.FORWARDING_DB.withSession());

beforeEach(async () => {
  await migrate(env.FORWARDING_DB);
  const tables = [hooks, events, accountDeletions, repositories, users];
  for (const table of tables) await db.delete(table);
});

const NOW = 1_000_000;
const LATER = NOW + 120_000;
const EVENT = { type: "repository.created", actorId: 0, ownerId: 0, payload: {}, createdAt: NOW };

const release = () => releaseLeases(systemCtx({ DB: env.FORWARDING_DB }, NOW));

/** A hook of the service. */
const makeHook = (fields: Partial<Hook>) =>
  db.insert(hooks).values({
    level: "system",
    approverId: 0,
    type: "gitea",
    url: "https://hooks.example/",
    contentType: "json",
    chat: {},
    events: ["repository"],
    isActive: true,
    createdAt: 1000,
    updatedAt: 1000,
    ...fields,
  });

describe("what a killed process leaves", () => {
  it("is taken up at once: events and hooks", async () => {
    await makeHook({ leasedUntil: LATER });
    await db.insert(events).values({ ...EVENT, dispatchAt: LATER, consequencesAt: LATER });
    const requeue = async (): Promise<EventJob[]> => {
      const sent: EventJob[] = [];
      const queue = { send: async (job: EventJob) => void sent.push(job) };
      const EVENT_JOBS = queue as unknown as Env["EVENT_JOBS"];
      await requeueDue(systemCtx({ DB: env.FORWARDING_DB, EVENT_JOBS }, NOW));
      return sent;
    };
    expect(await requeue()).toEqual([]);

    await release();

    expect(await db.select().from(hooks)).toMatchObject([{ leasedUntil: null }]);
    expect(await db.select().from(events)).toMatchObject([
      { dispatchAt: NOW, consequencesAt: NOW },
    ]);
    expect(await requeue()).toHaveLength(1);
  });

  it("is no event that was dispatched, and no backoff of a hook", async () => {
    await makeHook({ backoffUntil: LATER });
    await db.insert(events).values(EVENT);

    await release();

    expect(await db.select().from(hooks)).toMatchObject([{ backoffUntil: LATER }]);
    expect(await db.select().from(events)).toMatchObject([
      { dispatchAt: null, consequencesAt: null },
    ]);
  });

  it("is the deletion of an account", async () => {
    const account = { kind: "user", name: "ada", lowerName: "ada", email: "a@b.example" } as const;
    const { id: accountId } = only(
      await db
        .insert(users)
        .values({ ...account, createdAt: 1, updatedAt: 1 })
        .returning(),
    );
    const asked = { isPurge: false, requesterId: 0, visibility: "public", rootUrl: "" } as const;
    await db.insert(accountDeletions).values({
      ...asked,
      accountId,
      isLoginProhibited: false,
      leasedUntil: LATER,
      createdAt: NOW,
    });

    await release();

    const isOf = eq(accountDeletions.accountId, accountId);
    expect(await db.select().from(accountDeletions).where(isOf)).toMatchObject([
      { leasedUntil: 0 },
    ]);
  });
});
