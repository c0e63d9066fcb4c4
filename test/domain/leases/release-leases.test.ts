import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { accountDeletions, events, hooks } from "../../../src/db/schema/index.ts";
import { releaseLeases } from "../../../src/domain/leases/release-leases.ts";
import { requeueDue } from "../../../src/domain/webhooks/delivery/requeue-due.ts";
import { inDatabase } from "../../../src/domain/shards/in-database.ts";
import { only } from "../../../src/lib/only.ts";
import {
  copy,
  directory,
  makeAccount,
  makeHookIn,
  makeRepository,
  openSharded,
  type Sent,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";

beforeEach(openSharded);

const NOW = 1_000_000;
const LATER = NOW + 120_000;
const URL = "https://hooks.example/";

describe("what a killed process leaves", () => {
  it.each([0, 1])("is taken up at once: events and hooks of database %i", async (shard) => {
    const db = shardDatabase(shard);
    const account = await makeAccount();
    const { id: repoId } = await makeRepository(account, shard);
    await copy();
    const hook = await makeHookIn(db, { level: "repository", repoId, url: URL });
    await db.update(hooks).set({ leasedUntil: LATER }).where(eq(hooks.id, hook.id));
    const at = { actorId: account.id, ownerId: account.id, payload: {}, createdAt: NOW };
    const event = only(
      await db
        .insert(events)
        .values({ ...at, type: "repository.created", dispatchAt: LATER, consequencesAt: LATER })
        .returning(),
    );
    const requeue = async (): Promise<Sent> => {
      const sent: Sent = [];
      await requeueDue(inDatabase(shardedCtx({}, sent, NOW), shard));
      return sent;
    };
    expect(await requeue()).toEqual([]);

    await releaseLeases(shardedCtx({}, [], NOW));

    expect(await db.select().from(hooks).where(eq(hooks.id, hook.id))).toMatchObject([
      { leasedUntil: null },
    ]);
    expect(await db.select().from(events).where(eq(events.id, event.id))).toMatchObject([
      { dispatchAt: NOW, consequencesAt: NOW },
    ]);
    expect(await requeue()).toHaveLength(1);
  });

  it("is no event that was dispatched, and no backoff of a hook", async () => {
    const account = await makeAccount();
    const { id: repoId } = await makeRepository(account, 0);
    const hook = await makeHookIn(directory, { level: "repository", repoId, url: URL });
    await directory.update(hooks).set({ backoffUntil: LATER }).where(eq(hooks.id, hook.id));
    const at = { actorId: account.id, ownerId: account.id, payload: {}, createdAt: NOW };
    await directory.insert(events).values({ ...at, type: "repository.created" });

    await releaseLeases(shardedCtx({}, [], NOW));

    expect(await directory.select().from(hooks)).toMatchObject([{ backoffUntil: LATER }]);
    expect(await directory.select().from(events)).toMatchObject([
      { dispatchAt: null, consequencesAt: null },
    ]);
  });

  it("is the deletion of an account", async () => {
    const { id: accountId } = await makeAccount();
    const asked = { isPurge: false, requesterId: 0, visibility: "public", rootUrl: "" } as const;
    await directory.insert(accountDeletions).values({
      ...asked,
      accountId,
      isLoginProhibited: false,
      leasedUntil: LATER,
      createdAt: NOW,
    });
    await releaseLeases(shardedCtx({}, [], NOW));
    expect(await directory.select().from(accountDeletions)).toMatchObject([{ leasedUntil: 0 }]);
  });
});
