import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { relayedEvents } from "../../../src/db/schema/index.ts";
import { insertRepository } from "../../../src/domain/repos/insert-repository.ts";
import { relayEvents } from "../../../src/domain/events/relay-events.ts";
import { freshName } from "../../support/make.ts";
import {
  copy,
  directory,
  eventsIn,
  makeAccount,
  openSharded,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";

beforeEach(openSharded);

describe("a repository that is created in a shard", () => {
  async function create() {
    const owner = await makeAccount();
    await copy();
    return insertRepository(
      shardedCtx(),
      { owner, creator: owner, ownsOwner: true },
      {
        name: freshName("repo"),
        description: "",
        defaultBranch: "main",
        isPrivate: false,
        objectName: crypto.randomUUID(),
        networkName: crypto.randomUUID(),
        shard: 2,
      },
    );
  }
  const inShard = () => eventsIn(shardDatabase(2));

  // Otherwise the first push would come before it, in feeds and in the repository's events.
  it("has the event of its creation there when the request goes on", async () => {
    const { row } = await create();
    const [original] = await eventsIn(directory);
    expect(await inShard()).toMatchObject([
      { type: "repository.created", repoId: row.id, originalId: original?.id },
    ]);
    expect(await directory.select().from(relayedEvents)).toEqual([]);
  });

  it("is created without the event if the shard refuses it, which a job repeats", async () => {
    const shard = shardDatabase(2);
    await shard.run(sql`
      create trigger refuse before insert on events begin select raise(abort, 'refused'); end`);
    try {
      const { row } = await create();
      expect(row.shard).toBe(2);
      expect(await inShard()).toEqual([]);
    } finally {
      await shard.run(sql`drop trigger refuse`);
    }
    await relayEvents(shardedCtx());
    expect(await inShard()).toHaveLength(1);
  });
});
