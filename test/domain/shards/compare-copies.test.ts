import { env } from "cloudflare:workers";
import { type SQL, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { copiedTables } from "../../../src/db/copies/copied-tables.ts";
import type { Database } from "../../../src/db/db.ts";
import { compareCopies } from "../../../src/domain/shards/compare-copies.ts";
import { systemCtx } from "../../support/system.ts";
import {
  clearDatabases,
  copyAll,
  databases,
  directory,
  expectCopies,
  insertRows,
  NOW,
  SHARDS,
} from "./three-shards.ts";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const [shard] = databases as [Database, ...Database[]];

const compare = (now = NOW, bindings: Partial<typeof SHARDS> = SHARDS, pagesMax?: number) =>
  compareCopies(systemCtx({ DB: env.DIRECTORY_DB, ...bindings }, now), pagesMax);

/** Changes a copy as nothing but the copying may. */
const corrupt = (...statements: SQL[]) =>
  shard.batch(
    [
      sql`pragma defer_foreign_keys = on`,
      sql`update shard_copies set is_copying = 1`,
      ...statements,
      sql`update shard_copies set is_copying = 0`,
    ].map((statement) => shard.textStatement(statement)) as never,
  );

/** What the comparison logged, by table. */
async function differencesOf(run: () => Promise<void>): Promise<Record<string, number>> {
  const written = vi.spyOn(console, "log").mockImplementation(() => undefined);
  try {
    await run();
    const lines = written.mock.calls.map(
      ([line]) => JSON.parse(String(line)) as { event: string; table: string; rows: number },
    );
    const rows: Record<string, number> = {};
    for (const line of lines.filter(({ event }) => event === "copies:differ")) {
      rows[line.table] = (rows[line.table] ?? 0) + line.rows;
    }
    return rows;
  } finally {
    written.mockRestore();
  }
}

const entered = () =>
  directory.all<{ table_name: string; key: string }>(
    sql`select table_name, "key" from copied_changes order by id`,
  );

beforeEach(async () => {
  await clearDatabases();
  await insertRows();
});

describe("the comparison of copies", () => {
  it("finds nothing in copies that are equal, and in columns that are not copied or not logged", async () => {
    await directory.run(sql`update users set follower_count = 9, password_hash = 'new'`);
    await shard.run(sql`update repositories set open_issue_count = 7, updated_at = 8`);
    expect(await differencesOf(compare)).toEqual({});
    expect(await entered()).toEqual([]);
    expect(await directory.all(sql`select compared_at from shards`)).toEqual(
      databases.map(() => ({ compared_at: NOW })),
    );
  });

  it.each(copiedTables().map(({ name }) => name))(
    "finds a row that is missing, and the next copy heals it: %s",
    async (name) => {
      // Rows that refer to it go with it; an owner can't.
      const where = name === "users" ? sql`where id = 2` : sql``;
      await corrupt(sql`delete from ${sql.identifier(name)} ${where}`);
      const differences = await differencesOf(compare);
      expect(differences[name]).toBeGreaterThan(0);
      await copyAll();
      await expectCopies();
      expect(await differencesOf(() => compare(NOW + WEEK_MS))).toEqual({});
    },
  );

  it("finds a row that differs and one that has no original", async () => {
    await corrupt(
      sql`update users set is_admin = 1 where id = 1`,
      sql`insert into collaborations (repo_id, user_id, access, created_at) values (3, 1, 3, 1)`,
      sql`insert into users (id, kind, name, lower_name, created_at, updated_at) values (99, 'user', 'x', 'x', 1, 1)`,
    );
    expect(await differencesOf(compare)).toEqual({ users: 2, collaborations: 1 });
    await copyAll();
    await expectCopies();
    expect(await shard.all(sql`select 1 from users where id = 99`)).toEqual([]);
  });

  it("leaves a row alone whose change is still to be copied", async () => {
    await directory.run(sql`update users set full_name = 'A' where id = 1`);
    const before = await entered();
    expect(before).toHaveLength(1);
    expect(await differencesOf(compare)).toEqual({});
    expect(await entered()).toEqual(before);
  });

  it("goes on where the last run ended, through tables of many pages, and starts again after a week", async () => {
    const rows = JSON.stringify(Array.from({ length: 1700 }, (_, at) => at + 1000));
    const insert = sql`
      insert into users (id, kind, name, lower_name, created_at, updated_at)
      select value, 'user', 'n' || value, 'n' || value, 1, 1 from json_each(${rows})`;
    const only = { SHARD_1: SHARDS.SHARD_1 };
    await directory.run(sql`delete from shards where id <> 1`);
    await directory.run(insert);
    await directory.run(sql`delete from copied_changes`);
    await corrupt(insert, sql`update users set name = 'other' where id in (1500, 2600)`);
    expect(await differencesOf(() => compare(NOW, only, 3))).toEqual({ users: 1 });
    const state = () =>
      directory.all(sql`select compare_table, compare_key, compared_at from shards`);
    expect(await state()).toMatchObject([{ compare_table: 0, compared_at: null }]);
    for (let run = 0; run < 4; run++) {
      expect(await differencesOf(() => compare(NOW, only, 4))).toEqual(
        run === 0 ? { users: 1 } : {},
      );
    }
    expect(await state()).toEqual([{ compare_table: 0, compare_key: null, compared_at: NOW }]);
    expect((await entered()).map(({ key }) => key)).toEqual(["[1500]", "[2600]"]);

    await corrupt(sql`update users set name = 'other' where id = 2000`);
    expect(await differencesOf(() => compare(NOW + WEEK_MS - 1, only))).toEqual({});
    expect(await differencesOf(() => compare(NOW + WEEK_MS, only))).toMatchObject({ users: 1 });
  });

  it("finds rows about the repositories after the first page", async () => {
    const ids = JSON.stringify(Array.from({ length: 250 }, (_, at) => at + 100));
    await directory.run(sql`
      insert into repositories (
        id, owner_id, name, lower_name, is_private, default_branch, object_name, network_name,
        pull_settings, issue_settings, created_at, updated_at
      )
      select value, 1, 'r' || value, 'r' || value, 0, 'main', 'c' || value, 'n', '{}', '{}', 1, 1
      from json_each(${ids})`);
    await directory.run(sql`insert into shard_repositories select 1, value from json_each(${ids})`);
    await directory.run(sql`
      insert into collaborations (repo_id, user_id, access, created_at)
      select value, 2, 1, 1 from json_each(${ids})`);
    await copyAll();
    await corrupt(
      sql`update collaborations set access = 3 where repo_id in (150, 349)`,
      sql`update repositories set is_private = 1 where id = 3`,
    );
    expect(await differencesOf(compare)).toEqual({ collaborations: 2, repositories: 1 });
    await copyAll();
    await expectCopies();
  });

  it("of a shard that does not answer keeps the others from nothing", async () => {
    await corrupt(sql`update users set is_admin = 1 where id = 1`);
    const broken = {
      withSession: () => {
        const prepare = () => ({ bind: prepare, all: fail, raw: fail, run: fail });
        const fail = () => Promise.reject(new Error("no answer"));
        return { prepare, batch: fail };
      },
    } as unknown as D1Database;
    expect(await differencesOf(() => compare(NOW, { ...SHARDS, SHARD_2: broken }))).toEqual({
      users: 1,
    });
  });

  it("does nothing without shards", async () => {
    await compare(NOW, {});
    expect(
      await directory.all(sql`select compared_at from shards where compared_at is not null`),
    ).toEqual([]);
  });
});
