import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { OWNED_CHANGES_TRIGGER } from "../../../src/db/copies/owned-sql.ts";
import type { Database } from "../../../src/db/db.ts";
import {
  OWNER_PERMISSION,
  repositories,
  type Repository,
  users,
} from "../../../src/db/schema/index.ts";
import { runScheduledTasks } from "../../../src/domain/cron/run-tasks.ts";
import { editRepository } from "../../../src/domain/repos/edit-repository.ts";
import { copyFromShards } from "../../../src/domain/shards/copy-from-shards.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import { ownedColumns, withOwned } from "../../../src/domain/shards/owned-columns.ts";
import { setUpShard } from "../../../src/domain/shards/set-up-shard.ts";
import { handleBatch } from "../../../src/jobs/index.ts";
import { type CopyOwnedJob, EventQueues } from "../../../src/storage/event-queues.ts";
import { failing } from "../../support/intercepted-database.ts";
import { systemCtx } from "../../support/system.ts";
import { clearDatabases, databases, directory, SHARDS } from "./three-shards.ts";

const NOW = Date.UTC(2026, 0, 31);
const ctx = systemCtx({ DB: env.DIRECTORY_DB, ...SHARDS }, NOW);
const [shard1, shard2] = databases as [Database, Database, Database];

beforeEach(async () => {
  await clearDatabases();
  await copyToShards(ctx);
  await directory.run(sql`
    insert into users (id, kind, name, lower_name, visibility, created_at, updated_at)
    values (7, 'user', 'ann', 'ann', 'public', 1, 1)`);
  for (const id of [1, 2]) {
    await directory.insert(repositories).values({
      id,
      shard: id,
      ownerId: 7,
      name: `r${id}`,
      lowerName: `r${id}`,
      isPrivate: false,
      defaultBranch: "main",
      objectName: crypto.randomUUID(),
      networkName: "n",
      pullSettings: {} as never,
      issueSettings: {} as never,
      createdAt: 1,
      updatedAt: 5,
    });
  }
  await copyToShards(ctx);
});

const rowOf = async (db: Database, id: number): Promise<Repository> => {
  const [row] = await db.select().from(repositories).where(eq(repositories.id, id));
  if (!row) throw new Error("no repository");
  return row;
};

describe("the columns that a shard owns", () => {
  it("replace those of the first database's row, but for a later time", async () => {
    await shard1.update(repositories).set({ openIssueCount: 4, licenses: ["MIT"], updatedAt: 6 });
    const row = await rowOf(directory, 1);
    const [owned] = await ownedColumns(shard1, { repoId: 1 });
    if (!owned) throw new Error("no copy");
    expect(withOwned(row, owned)).toEqual({
      ...row,
      openIssueCount: 4,
      licenses: ["MIT"],
      updatedAt: 6,
    });
    expect(withOwned({ ...row, updatedAt: 7 }, owned)).toMatchObject({ updatedAt: 7 });
  });

  it("are none before the shard has a copy", async () => {
    expect(await ownedColumns(shard1, { repoId: 2 })).toEqual([]);
  });

  it("are noted by a trigger that a set-up repeats, and replaces where it is another", async () => {
    const triggers = () =>
      shard1.all(
        sql`select sql as text from sqlite_master where name = ${OWNED_CHANGES_TRIGGER.name}`,
      );
    await Promise.all([setUpShard(shard1, 1, [1]), setUpShard(shard1, 1, [1])]);
    expect(await triggers()).toEqual([{ text: OWNED_CHANGES_TRIGGER.text }]);
    await shard1.run(sql.raw(`drop trigger ${OWNED_CHANGES_TRIGGER.name}`));
    await shard1.run(
      sql.raw(
        `create trigger ${OWNED_CHANGES_TRIGGER.name} after update on repositories begin select 1; end`,
      ),
    );
    await setUpShard(shard1, 1, [1]);
    expect(await triggers()).toEqual([{ text: OWNED_CHANGES_TRIGGER.text }]);
  });
});

describe("copies of them", () => {
  const sizes = () =>
    directory
      .select({ sizeBytes: repositories.sizeBytes })
      .from(repositories)
      .orderBy(repositories.id);
  const change = async () => {
    await shard1.update(repositories).set({ sizeBytes: 8 });
    await shard2.update(repositories).set({ sizeBytes: 9 });
  };

  it("are made by the schedule", async () => {
    await change();
    await runScheduledTasks(ctx, "* * * * *");
    expect(await sizes()).toEqual([{ sizeBytes: 8 }, { sizeBytes: 9 }]);
  });

  it("are asked for once for each shard that changed, and for none of the first database", async () => {
    const sent: unknown[] = [];
    const queue = { send: (body: unknown) => Promise.resolve(sent.push(body)) };
    const queues = new EventQueues(queue as never, env.DELIVERY_JOBS);
    queues.noteChanged(0);
    expect(queues.hasRecorded).toBe(false);
    for (const shard of [2, 1, 2]) queues.noteChanged(shard);
    expect(queues.hasRecorded).toBe(true);
    await queues.dispatchRecorded();
    await queues.dispatchRecorded();
    expect(sent).toEqual([
      { kind: "copy-owned", shard: 2 },
      { kind: "copy-owned", shard: 1 },
    ]);
  });

  it("are made for the shards of a batch of messages, once for each", async () => {
    await change();
    const opened: number[] = [];
    const batch = createMessageBatch<CopyOwnedJob>(
      "edgeforge-events",
      [1, 1, 9].map((shard, at) => ({
        id: String(at),
        timestamp: new Date(NOW),
        attempts: 1,
        body: { kind: "copy-owned", shard },
      })),
    );
    await handleBatch(batch, () => ({
      ...ctx,
      openShard: (number) => {
        opened.push(number);
        return ctx.openShard(number);
      },
    }));
    expect(opened).toEqual([1, 9]);
    expect(await sizes()).toEqual([{ sizeBytes: 8 }, { sizeBytes: 0 }]);
    // A shard without a binding fails its own messages.
    const { explicitAcks, retryMessages } = await getQueueResult(batch, createExecutionContext());
    expect(explicitAcks).toEqual(["0", "1"]);
    expect(retryMessages).toMatchObject([{ msgId: "2" }]);
  });
});

describe("an edit of a repository in a shard", () => {
  const edit = async (wanted: Parameters<typeof editRepository>[2], DB = env.DIRECTORY_DB) => {
    const row = await rowOf(directory, 1);
    const [owner] = await directory.select().from(users).where(eq(users.id, row.ownerId));
    const repo = { row, owner: owner as never, permission: OWNER_PERMISSION };
    const ofMirror = shard1
      .update(repositories)
      .set({ isMirror: false, origin: { url: "https://example.com/r.git" } })
      .where(eq(repositories.id, 1));
    const given = systemCtx({ DB, ...SHARDS }, NOW);
    return editRepository({ ...given, db: shard1 }, repo, wanted, [ofMirror]);
  };

  // The first database's row says at once that one may push to what was a mirror.
  it("writes each column where it belongs, and what the shard owns in the first database as well", async () => {
    await shard1.update(repositories).set({ isMirror: true });
    await directory.update(repositories).set({ isMirror: true });
    const { row } = await edit({ description: "new", defaultBranch: "trunk" });
    const origin = { url: "https://example.com/r.git" };
    expect(row).toMatchObject({ description: "new", defaultBranch: "trunk", origin });
    expect(await rowOf(directory, 1)).toMatchObject({
      description: "new",
      defaultBranch: "trunk",
      isMirror: false,
      origin,
      updatedAt: NOW,
    });
    expect(await rowOf(shard1, 1)).toMatchObject({
      description: "",
      defaultBranch: "trunk",
      origin,
    });
  });

  it("comes to the first database by the schedule if that fails after the shard has it", async () => {
    const faults = { at: -1, isDone: false, calls: 0 };
    const DB = failing(env.DIRECTORY_DB, faults);
    await edit({ defaultBranch: "trunk" }, DB);
    const last = { ...faults, at: faults.calls - 1, calls: 0 };
    const { row } = await edit({ defaultBranch: "later" }, failing(env.DIRECTORY_DB, last));
    expect(row).toMatchObject({ defaultBranch: "later" });
    expect(await rowOf(directory, 1)).toMatchObject({ defaultBranch: "trunk" });
    await copyFromShards(ctx);
    expect(await rowOf(directory, 1)).toMatchObject({ defaultBranch: "later" });
  });

  it("that is refused writes nothing", async () => {
    const refused = edit({ name: "r2", defaultBranch: "trunk" });
    await expect(refused).rejects.toMatchObject({ kind: "invalid" });
    for (const db of [directory, shard1]) {
      expect(await rowOf(db, 1)).toMatchObject({
        name: "r1",
        defaultBranch: "main",
        origin: null,
        updatedAt: 5,
      });
    }
  });
});
