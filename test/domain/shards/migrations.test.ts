import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";

import { COPIED_TABLES } from "../../../src/db/copies/copied-tables.ts";
import { openDatabase } from "../../../src/db/db.ts";
import {
  KEPT_TRIGGERS,
  MADE_TRIGGERS,
  setUpShard,
} from "../../../src/domain/shards/set-up-shard.ts";

/** A migration after which databases were set up as shards. */
const OF_EARLIER_SHARDS = "shard_repository_counts_triggers";

// A shard has fewer triggers than the first database: a migration that drops one says `if exists`.
it("a database that is a shard takes later migrations", async () => {
  const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.includes(OF_EARLIER_SHARDS));
  expect(at).toBeGreaterThan(0);
  await applyD1Migrations(env.MIGRATED_SHARD_DB, env.TEST_MIGRATIONS.slice(0, at + 1));
  const shard = openDatabase(env.MIGRATED_SHARD_DB.withSession("first-primary"));
  const triggers = async () =>
    (
      await shard.all<{ name: string }>(sql`
        select name from sqlite_master where type = 'trigger'
          and tbl_name in (
            select value from json_each(${JSON.stringify(COPIED_TABLES.map(({ name }) => name))})
          )
        order by name`)
    ).map(({ name }) => name);
  expect((await triggers()).length).toBeGreaterThan(KEPT_TRIGGERS.length);
  await setUpShard(shard, 1);

  await applyD1Migrations(env.MIGRATED_SHARD_DB, env.TEST_MIGRATIONS);
  await setUpShard(shard, 1);

  // The last one keeps labels of deleted repositories out.
  expect(await triggers()).toEqual(
    [...KEPT_TRIGGERS, ...MADE_TRIGGERS.keys(), "labels_repository"].toSorted(),
  );
});
