import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { COPIED_TABLES, type CopiedTable } from "../../../src/db/copies/copied-tables.ts";
import { type Database, openDatabase } from "../../../src/db/db.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import { KEPT_TRIGGERS } from "../../../src/domain/shards/set-up-shard.ts";
import { systemCtx } from "../../support/system.ts";
import { changesOf, drawFrom } from "./directory-changes.ts";

const NOW = Date.UTC(2026, 0, 31);
const SHARDS = { SHARD_1: env.TEST_SHARD_1, SHARD_2: env.TEST_SHARD_2, SHARD_3: env.TEST_SHARD_3 };
const directory = openDatabase(env.DIRECTORY_DB.withSession("first-primary"));
const databases = Object.values(SHARDS).map((d1) => openDatabase(d1.withSession("first-primary")));

for (const database of [env.DIRECTORY_DB, ...Object.values(SHARDS)]) {
  await applyD1Migrations(database, env.TEST_MIGRATIONS);
}

const copy = (bindings: Partial<typeof SHARDS> & { DB?: D1Database } = SHARDS) =>
  copyToShards(systemCtx({ DB: env.DIRECTORY_DB, ...bindings }, NOW));

/** Repeats until nothing is left to copy. */
async function copyAll(bindings: Partial<typeof SHARDS> = SHARDS): Promise<void> {
  for (let runs = 0; runs < 50; runs++) {
    await copy(bindings);
    const [left] = await directory.all<{ count: number }>(
      sql`select count(*) as count from copied_changes`,
    );
    if (left?.count === 0) return;
  }
  throw new Error("the log does not become empty");
}

const rowsOf = (db: Database, { name, columns }: CopiedTable, where = sql`1`) =>
  db.all<Record<string, unknown>>(sql`
    select ${sql.join(
      columns.map((column) => sql.identifier(column)),
      sql`, `,
    )} from ${sql.identifier(name)} where ${where} order by 1, 2`);

/** What a shard is to have of a table. */
async function expectedRows(table: CopiedTable, shardId: number) {
  const isThere = (column: string) => sql`exists (
    select 1 from shard_repositories
    where shard_id = ${shardId} and repo_id = ${sql.identifier(table.name)}.${sql.identifier(column)}
  )`;
  const rows = await rowsOf(
    directory,
    table,
    table.repository === undefined ? sql`1` : isThere(table.repository),
  );
  if (table.name !== "repositories") return rows;
  const ids = new Set(rows.map(({ id }) => id));
  for (const row of rows) if (!ids.has(row["parent_id"])) row["parent_id"] = null;
  return rows;
}

/** Columns that are copied with others alone. */
const withoutUnlogged = ({ logged }: CopiedTable, rows: readonly Record<string, unknown>[]) =>
  rows.map((row) => Object.fromEntries(logged.map((column) => [column, row[column]])));

async function expectCopies(copies = databases): Promise<void> {
  for (const [at, shard] of copies.entries()) {
    await Promise.all(
      COPIED_TABLES.map(async (table) => {
        const [found, expected] = await Promise.all([
          rowsOf(shard, table),
          expectedRows(table, at + 1),
        ]);
        expect(withoutUnlogged(table, found), `${table.name} of shard ${at + 1}`).toEqual(
          withoutUnlogged(table, expected),
        );
      }),
    );
  }
}

/** Makes changes of drawn kinds, usually after one of each. */
async function change(count: number, seed: number, { isEach = true } = {}): Promise<void> {
  const draw = drawFrom(seed);
  const changes = changesOf(directory, draw);
  if (isEach) for (const each of changes) await each();
  for (let at = 0; at < count; at++) await changes[draw(changes.length)]?.();
}

/** A database of which one call fails, counted together with those of others. */
function failing(d1: D1Database, faults: { at: number; isDone: boolean; calls: number }) {
  const attempt = async (call: () => Promise<unknown>): Promise<unknown> => {
    if (faults.calls++ !== faults.at) return call();
    if (faults.isDone) await call();
    throw new Error("no answer");
  };
  const originals = new WeakMap<object, D1PreparedStatement>();
  const wrapped = (statement: D1PreparedStatement): object => {
    const wrapper = {
      bind: (...values: unknown[]) => wrapped(statement.bind(...values)),
      all: () => attempt(() => statement.all()),
      raw: () => attempt(() => statement.raw()),
      run: () => attempt(() => statement.run()),
    };
    originals.set(wrapper, statement);
    return wrapper;
  };
  return {
    withSession: (bookmark: string) => {
      const session = d1.withSession(bookmark);
      return {
        prepare: (text: string) => wrapped(session.prepare(text)),
        batch: (list: object[]) =>
          attempt(() => session.batch(list.map((each) => originals.get(each) as never))),
      };
    },
  } as unknown as D1Database;
}

beforeEach(async () => {
  for (const db of [directory, ...databases]) {
    for (const table of [...COPIED_TABLES].toReversed()) {
      await db.run(sql`delete from ${sql.identifier(table.name)}`);
    }
    for (const table of [
      "shard_repositories",
      "shards",
      "copied_changes",
      "shard_copies",
      "discarded_objects",
      "repository_remains",
    ]) {
      await db.run(sql`delete from ${sql.identifier(table)}`);
    }
  }
});

describe("copies in three shards", () => {
  it.each(env.TEST_ALL ? [1, 2, 3, 4, 5, 6] : [1, 2])(
    "are equal to the first database after random changes (%s)",
    async (seed) => {
      await copyAll();
      for (const round of [1, 2]) {
        await change(150, seed * 10 + round);
        // One shard lags behind, and then all do.
        await copy({ SHARD_1: env.TEST_SHARD_1 });
        await change(50, seed * 100 + round);
        await copyAll();
        await expectCopies();
      }
      for (const shard of databases) {
        expect(await shard.all(sql`select 1 from repositories limit 1`)).toHaveLength(1);
        expect(await shard.all(sql`pragma foreign_key_check`)).toEqual([]);
      }
    },
  );

  it("are complete in a shard that comes later", async () => {
    await copy({ SHARD_1: env.TEST_SHARD_1 });
    await change(100, 7);
    await copyAll();
    await expectCopies();
  });

  it("are equal after each call of the copying has failed once, or was done without an answer", async () => {
    const one = { SHARD_1: env.TEST_SHARD_1 };
    await copyAll(one);
    await change(60, 5);
    for (const isDone of [false, true]) {
      for (let at = 0; ; at++) {
        await change(5, at, { isEach: false });
        const faults = { at, isDone, calls: 0 };
        const failed = copy({
          DB: failing(env.DIRECTORY_DB, faults),
          SHARD_1: failing(env.TEST_SHARD_1, faults),
        });
        await failed.catch(() => undefined);
        await copyAll(one);
        await expectCopies(databases.slice(0, 1));
        if (faults.calls <= at) break;
      }
    }
  }, 120_000);

  it("are equal after runs at once", async () => {
    await copyAll();
    await change(150, 9);
    await Promise.all([copy(), copy(), copy()]);
    await copyAll();
    await expectCopies();
  });
});

describe("a copy", () => {
  const USER = sql`insert into users (id, kind, name, lower_name, password_hash, follower_count, created_at, updated_at)`;
  const REPO = sql`
    insert into repositories (
      id, owner_id, name, lower_name, is_private, default_branch, object_name, network_name,
      pull_settings, issue_settings, created_at, updated_at
    )`;
  const [shard] = databases as [Database, ...Database[]];

  beforeEach(async () => {
    await copyAll();
    await directory.run(sql`${USER} values (7, 'user', 'ann', 'ann', 'secret', 3, 1, 1)`);
    await directory.run(
      sql`${REPO} values (8, 7, 'r', 'r', 0, 'main', ${crypto.randomUUID()}, 'n', '{}', '{}', 1, 1)`,
    );
    await directory.run(sql`insert into shard_repositories values (1, 8)`);
    await copyAll();
  });

  it("has no secrets, and the counters of the last change", async () => {
    const account = () =>
      shard.all(sql`select name, password_hash, follower_count from users where id = 7`);
    expect(await account()).toEqual([{ name: "ann", password_hash: null, follower_count: 3 }]);
    await directory.run(sql`update users set follower_count = 4 where id = 7`);
    await copyAll();
    expect(await account()).toMatchObject([{ follower_count: 3 }]);
    await directory.run(sql`update users set full_name = 'Ann' where id = 7`);
    await copyAll();
    expect(await account()).toMatchObject([{ follower_count: 4 }]);
  });

  it("keeps what the shard owns", async () => {
    await shard.run(sql`update repositories set open_issue_count = 5, size_bytes = 6 where id = 8`);
    await directory.run(sql`update repositories set name = 'R', size_bytes = 1 where id = 8`);
    await copyAll();
    expect(
      await shard.all(sql`select name, open_issue_count, size_bytes from repositories`),
    ).toEqual([{ name: "R", open_issue_count: 5, size_bytes: 6 }]);
  });

  it("of a deleted repository leaves the removal of its rows to the shard", async () => {
    await directory.run(sql`delete from repositories where id = 8`);
    await copyAll();
    expect(await shard.all(sql`select * from repository_remains`)).toEqual([{ repo_id: 8 }]);
    expect(await shard.all(sql`select * from discarded_objects`)).toEqual([]);
  });

  // The owner's name, many other changes, the transfer, the end of the account: in the copy the repository still has its owner
  // when the first of them is copied.
  it("of an account that is gone stays while the copies of others refer to it", async () => {
    await directory.run(sql`update users set full_name = 'Ann' where id = 7`);
    for (let id = 20; id < 140; id++) {
      await directory.run(sql`${USER} values (${id}, 'user', ${id}, ${id}, null, 0, 1, 1)`);
    }
    await directory.run(sql`update repositories set owner_id = 20 where id = 8`);
    await directory.run(sql`delete from users where id = 7`);
    await copyAll();
    expect(await shard.all(sql`select owner_id from repositories`)).toEqual([{ owner_id: 20 }]);
    expect(await shard.all(sql`select 1 from users where id = 7`)).toEqual([]);
  });

  it("has no triggers but those that change own data", async () => {
    const names = JSON.stringify(COPIED_TABLES.map(({ name }) => name));
    const triggers = await shard.all<{ name: string }>(sql`
      select name from sqlite_master
      where type = 'trigger' and tbl_name in (select value from json_each(${names}))`);
    expect(triggers.map(({ name }) => name).toSorted()).toEqual([...KEPT_TRIGGERS].toSorted());
  });

  it("is refused to a database that is another shard; the others go on", async () => {
    await directory.run(sql`update users set full_name = 'Ann' where id = 7`);
    await copy({ SHARD_1: env.TEST_SHARD_2, SHARD_3: env.TEST_SHARD_3 });
    const [, second, third] = databases as [Database, Database, Database];
    const names = (of: Database) => of.all(sql`select full_name from users where id = 7`);
    expect(await names(second)).toEqual([{ full_name: "" }]);
    expect(await names(third)).toEqual([{ full_name: "Ann" }]);
  });
});

describe("the log of changes", () => {
  it("stays empty without shards, and without a shard that has the repository", async () => {
    await change(30, 3);
    expect(await directory.all(sql`select * from copied_changes`)).toEqual([]);
    await directory.run(sql`insert into shards (id, created_at) values (1, 1)`);
    await directory.run(sql`update repositories set description = 'new'`);
    await directory.run(sql`delete from collaborations`);
    expect(await directory.all(sql`select * from copied_changes`)).toEqual([]);
    await directory.run(sql`update users set full_name = 'new'`);
    expect(await directory.all(sql`select * from copied_changes limit 1`)).toHaveLength(1);
  });

  it("has a change of every column that is logged, and of no other", async () => {
    const triggers = await directory.all<{ name: string; sql: string }>(
      sql`select name, sql from sqlite_master where type = 'trigger' and name like '%copied_update'`,
    );
    const logged = Object.fromEntries(
      triggers.map(({ name, sql: text }) => {
        const [, columns = ""] = /UPDATE OF ([^]*?) ON/.exec(text) ?? [];
        return [name.replace("_copied_update", ""), columns.replaceAll("`", "").split(", ")];
      }),
    );
    expect(logged).toEqual(
      Object.fromEntries(COPIED_TABLES.map((each) => [each.name, each.logged])),
    );
  });
});
