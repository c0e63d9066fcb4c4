import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";

import { copiedTables } from "../../../src/db/copies/copied-tables.ts";
import { NOTING_TRIGGERS } from "../../../src/db/copies/noted-accounts.ts";
import { type Database, openDatabase } from "../../../src/db/db.ts";
import {
  matchingIssueIds,
  scopeOf,
  searchTextOf,
} from "../../../src/domain/issue-lists/text-match.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../../src/domain/repos/default-settings.ts";
import {
  KEPT_TRIGGERS,
  madeTriggers,
  setUpShard,
} from "../../../src/domain/shards/set-up-shard.ts";

/** A migration after which databases were set up as shards. */
const OF_EARLIER_SHARDS = "shard_repository_counts_triggers";

/** The migration before which rows of the index of words had ids of shards that overflowed. */
const OF_EARLIER_WORDS = "issue_search_in_shards";

/** Stores an issue with the word apple, and a comment with the word pear. */
async function insertWords(db: Database, id: number): Promise<void> {
  await db.run(sql`
    insert into users (id, kind, name, lower_name, created_at, updated_at)
    values (1, 'user', 'a', 'a', 1, 1)`);
  await db.run(sql`
    insert into repositories (
      id, owner_id, name, lower_name, is_private, default_branch, object_name, network_name,
      pull_settings, issue_settings, created_at, updated_at
    ) values (3, 1, 'r', 'r', 0, 'main', 'o', 'n',
      ${JSON.stringify(DEFAULT_PULL_SETTINGS)}, ${JSON.stringify(DEFAULT_ISSUE_SETTINGS)}, 1, 1)`);
  await db.run(sql`
    insert into issues (id, repo_id, number, poster_id, title, body, created_at, updated_at)
    values (${id}, 3, 1, 1, 'apple', '', 1, 1)`);
  await db.run(sql`
    insert into timeline_entries (id, repo_id, issue_id, kind, poster_id, body, created_at, updated_at)
    values (${id + 1}, 3, ${id}, 'comment', 1, 'pear', 1, 1)`);
}

/** The words are found, and what is changed by the new ones alone. */
async function expectWords(db: Database, id: number, isAmongMany: boolean): Promise<void> {
  const find = (word: string) => {
    const text = searchTextOf({ words: [word], parts: [] });
    return db.all(matchingIssueIds(text, { scope: scopeOf(3), isOldest: false, isAmongMany }));
  };
  expect([await find("apple"), await find("pear")]).toEqual([[{ id }], [{ id }]]);
  await db.run(sql`update issues set title = 'banana' where id = ${id}`);
  await db.run(sql`delete from timeline_entries where id = ${id + 1}`);
  expect([await find("apple"), await find("pear")]).toEqual([[], []]);
  expect(await find("banana")).toEqual([{ id }]);
}

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
            select value from json_each(${JSON.stringify(copiedTables().map(({ name }) => name))})
          )
        order by name`)
    ).map(({ name }) => name);
  expect((await triggers()).length).toBeGreaterThan(KEPT_TRIGGERS.length);
  // What is set up now needs later tables, and a later column.
  await shard.run(
    sql`create table noted_accounts (account_id integer primary key, is_copied integer)`,
  );
  await shard.run(sql`create table id_ranges (number integer primary key, shard_id integer)`);
  await shard.run(sql`alter table shard_copies add hidden_id integer not null default 0`);
  await setUpShard(shard, 1, [1]);
  for (const name of NOTING_TRIGGERS.keys()) {
    await shard.run(sql`drop trigger ${sql.identifier(name)}`);
  }
  await shard.run(sql`drop table noted_accounts`);
  await shard.run(sql`drop table id_ranges`);
  await shard.run(sql`alter table shard_copies drop column hidden_id`);
  const id = 2 ** 36 + 9;
  await shard.run(sql`update shard_copies set is_copying = 1`);
  await insertWords(shard, id);

  await applyD1Migrations(env.MIGRATED_SHARD_DB, env.TEST_MIGRATIONS);
  // It has given ids of the range of its number.
  expect(await shard.all(sql`select * from id_ranges`)).toEqual([{ number: 1, shard_id: 1 }]);
  await setUpShard(shard, 1, [1]);

  // The last one keeps labels of deleted repositories out.
  expect(await triggers()).toEqual(
    [...KEPT_TRIGGERS, ...madeTriggers().keys(), "labels_repository"].toSorted(),
  );
  await expectWords(shard, id, true);
});

it("the first database keeps its index of words", async () => {
  const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.includes(OF_EARLIER_WORDS));
  expect(at).toBeGreaterThan(0);
  await applyD1Migrations(env.MIGRATED_WORDS_DB, env.TEST_MIGRATIONS.slice(0, at));
  const first = openDatabase(env.MIGRATED_WORDS_DB.withSession("first-primary"));
  await insertWords(first, 9);

  await applyD1Migrations(env.MIGRATED_WORDS_DB, env.TEST_MIGRATIONS);
  await expectWords(first, 9, false);
});
