import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { copiedTables } from "../../../src/db/copies/copied-tables.ts";
import type { Database } from "../../../src/db/db.ts";
import { copyNow } from "../../../src/domain/shards/copy-now.ts";
import { KEPT_TRIGGERS, madeTriggers } from "../../../src/domain/shards/set-up-shard.ts";
import { changesOf, drawFrom } from "./directory-changes.ts";
import {
  clearDatabases,
  copy,
  copyAll,
  databases,
  directory,
  expectCopies,
  NOW,
  SHARDS,
} from "./three-shards.ts";
import { failing } from "../../support/intercepted-database.ts";
import { systemCtx } from "../../support/system.ts";

beforeEach(clearDatabases);

/** Makes changes of drawn kinds, usually after one of each. */
async function change(count: number, seed: number, { isEach = true } = {}): Promise<void> {
  const draw = drawFrom(seed);
  const changes = changesOf(directory, draw);
  if (isEach) for (const each of changes) await each();
  for (let at = 0; at < count; at++) await changes[draw(changes.length)]?.();
}

describe("copies in three shards", () => {
  it.each(env.TEST_ALL ? [1, 2, 3, 4, 5, 6] : [1, 2])(
    "are equal to the first database after random changes (%s)",
    async (seed) => {
      await copyAll();
      for (const round of [1, 2]) {
        await change(150, seed * 10 + round);
        // One shard lags behind, and then all do.
        await copy({ SHARD_1: SHARDS.SHARD_1 });
        await change(50, seed * 100 + round);
        await copyAll();
        await expectCopies();
      }
      const copied = await Promise.all(
        databases.map((shard) => shard.all(sql`select 1 from repositories limit 1`)),
      );
      expect(copied.flat().length).toBeGreaterThan(1);
      for (const shard of databases) {
        expect(await shard.all(sql`pragma foreign_key_check`)).toEqual([]);
      }
    },
  );

  it("are complete in a shard that comes later", async () => {
    await copy({ SHARD_1: SHARDS.SHARD_1 });
    await change(100, 7);
    await copyAll();
    await expectCopies();
  });

  it("are equal after each call of the copying has failed once, or was done without an answer", async () => {
    const one = { SHARD_1: SHARDS.SHARD_1 };
    await copyAll(one);
    await change(60, 5);
    for (const isDone of [false, true]) {
      for (let at = 0; ; at++) {
        await change(5, at, { isEach: false });
        const faults = { at, isDone, calls: 0 };
        const failed = copy({
          DB: failing(env.DIRECTORY_DB, faults),
          SHARD_1: failing(SHARDS.SHARD_1, faults),
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
    const ctx = systemCtx({ DB: env.DIRECTORY_DB, ...SHARDS }, NOW);
    for (const round of [1, 2, 3]) {
      await change(10, round, { isEach: false });
      // As requests and jobs at once.
      await Promise.all([copy(), ...[1, 2, 3].map((id) => copyNow(directory, ctx, [id]))]);
    }
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
    await directory.run(sql`update repositories set shard = 1 where id = 8`);
    await directory.run(sql`insert into shard_repositories values (1, 8)`);
    await copyAll();
  });

  it("of a fork takes the place of another one, whose change comes after it", async () => {
    await directory.run(sql`${USER} values (17, 'user', 'bob', 'bob', '', 0, 1, 1)`);
    for (const [id, owner] of [
      [18, 7],
      [19, 17],
    ]) {
      await directory.run(sql`
        ${REPO} values (${id}, ${owner}, ${`f${id}`}, ${`f${id}`}, 0, 'main', ${crypto.randomUUID()}, 'n', '{}', '{}', 1, 1)`);
      await directory.run(sql`insert into shard_repositories values (1, ${id})`);
      await directory.run(sql`update repositories set parent_id = 8 where id = ${id}`);
    }
    await copyAll();
    await directory.run(sql`update repositories set parent_id = null where id = 19`);
    await directory.run(sql`update repositories set parent_id = 8, owner_id = 17 where id = 18`);
    await copyAll();
    expect(
      await shard.all(
        sql`select id, owner_id, parent_id from repositories where id > 8 order by id`,
      ),
    ).toEqual([
      { id: 18, owner_id: 17, parent_id: 8 },
      { id: 19, owner_id: 17, parent_id: null },
    ]);
  });

  it("of a repository that the log has again is not in the way of its former owner's end", async () => {
    await directory.run(sql`${USER} values (17, 'user', 'bob', 'bob', '', 0, 1, 1)`);
    await directory.run(sql`
      ${REPO} values (18, 17, 'x', 'x', 0, 'main', ${crypto.randomUUID()}, 'n', '{}', '{}', 1, 1)`);
    await directory.run(sql`insert into shard_repositories values (1, 18)`);
    await copyAll();
    await directory.run(sql`delete from shard_repositories where repo_id = 18`);
    await directory.run(sql`update repositories set owner_id = 7 where id = 18`);
    await directory.run(sql`delete from users where id = 17`);
    // The next page.
    for (let at = 0; at < 110; at++) {
      await directory.run(sql`insert into user_redirects values (${`was-${at}`}, 7)`);
    }
    await directory.run(sql`insert into shard_repositories values (1, 18)`);
    await directory.run(sql`delete from shard_repositories where repo_id = 18`);
    await copyAll();
    expect(await shard.all(sql`select id from users`)).toEqual([{ id: 7 }]);
    expect(await shard.all(sql`select id from repositories`)).toEqual([{ id: 8 }]);
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
    await directory.run(sql`
      update repositories set name = 'R', size_bytes = 1, is_empty = 0, updated_at = 2 where id = 8`);
    await copyAll();
    expect(
      await shard.all(
        sql`select name, open_issue_count, size_bytes, is_empty, updated_at from repositories`,
      ),
    ).toEqual([{ name: "R", open_issue_count: 5, size_bytes: 6, is_empty: 1, updated_at: 2 }]);
    // The later of both.
    await shard.run(sql`update repositories set updated_at = 9 where id = 8`);
    await directory.run(sql`update repositories set name = 'r', updated_at = 3 where id = 8`);
    await copyAll();
    expect(await shard.all(sql`select updated_at from repositories`)).toEqual([{ updated_at: 9 }]);
  });

  it("has what the shard owns as it was when the repository was created", async () => {
    await directory.run(
      sql`${REPO} values (9, 7, 's', 's', 0, 'trunk', ${crypto.randomUUID()}, 'n', '{}', '{}', 1, 1)`,
    );
    await directory.run(
      sql`update repositories set shard = 1, is_mirror = 1, origin = '{"url":"u"}' where id = 9`,
    );
    await directory.run(sql`insert into shard_repositories values (1, 9)`);
    await copyAll();
    expect(
      await shard.all(sql`select default_branch, is_mirror, origin from repositories where id = 9`),
    ).toEqual([{ default_branch: "trunk", is_mirror: 1, origin: '{"url":"u"}' }]);
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

  it("has the repositories that a token is bound to, and loses them with the token", async () => {
    await directory.run(sql`
      insert into access_tokens (id, user_id, name, secret_hash, last_eight, made_by_id, created_at)
      values (5, 7, 'maker', 'h5', '', null, 1), (6, 7, 'made', 'h6', '', 5, 1)`);
    await directory.run(sql`insert into access_token_repositories values (5, 8), (6, 8)`);
    await copyAll();
    const bound = (db: Database) => db.all(sql`select * from access_token_repositories`);
    expect(await bound(shard)).toEqual([
      { token_id: 5, repo_id: 8 },
      { token_id: 6, repo_id: 8 },
    ]);
    expect(await shard.all(sql`select * from access_tokens`)).toEqual([]);
    await directory.run(sql`delete from access_tokens where id = 5`);
    await copyAll();
    expect(await bound(directory)).toEqual([]);
    expect(await bound(shard)).toEqual([]);
  });

  it("has no triggers but those that change own data, and those that only shards have", async () => {
    const names = JSON.stringify(copiedTables().map(({ name }) => name));
    const triggers = await shard.all<{ name: string }>(sql`
      select name from sqlite_master
      where type = 'trigger' and tbl_name in (select value from json_each(${names}))`);
    expect(triggers.map(({ name }) => name).toSorted()).toEqual(
      // The last one keeps labels of deleted repositories out.
      [...KEPT_TRIGGERS, ...madeTriggers().keys(), "labels_repository"].toSorted(),
    );
  });

  it("is refused to a database that is another shard; the others go on", async () => {
    await directory.run(sql`update users set full_name = 'Ann' where id = 7`);
    await copy({ SHARD_1: SHARDS.SHARD_2, SHARD_3: SHARDS.SHARD_3 });
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
      Object.fromEntries(copiedTables().map((each) => [each.name, each.logged])),
    );
  });

  it("has changes of what a shard owns for the others alone, where they need it", async () => {
    await copyAll();
    await directory.run(sql`
      insert into users (id, kind, name, lower_name, created_at, updated_at)
      values (7, 'user', 'ann', 'ann', 1, 1)`);
    await directory.run(sql`
      insert into repositories (
        id, owner_id, name, lower_name, is_private, default_branch, shard, pull_settings,
        issue_settings, created_at, updated_at
      ) values (8, 7, 'r', 'r', 0, 'main', 1, '{}', '{}', 1, 1)`);
    await directory.run(sql`insert into shard_repositories values (2, 8)`);
    await directory.run(sql`delete from copied_changes`);
    const entered = () => directory.all(sql`select "key", shard_id from copied_changes`);
    await directory.run(sql`update repositories set size_bytes = 9, is_empty = is_empty`);
    expect(await entered()).toEqual([]);
    await directory.run(sql`update repositories set is_empty = 0`);
    expect(await entered()).toEqual([{ key: "[8]", shard_id: 2 }]);
  });

  it("has a trigger for each of these columns", async () => {
    const [trigger] = await directory.all<{ text: string }>(sql`
      select sql as text from sqlite_master where name = 'repositories_owned_update'`);
    const [, columns = ""] = /UPDATE OF ([^]*?) ON/.exec(trigger?.text ?? "") ?? [];
    const table = copiedTables().find(({ name }) => name === "repositories");
    expect(columns.replaceAll("`", "").split(", ")).toEqual(table?.loggedElsewhere);
    for (const column of table?.loggedElsewhere ?? []) {
      expect(trigger?.text).toContain(`new.\`${column}\` IS NOT old.\`${column}\``);
    }
  });
});
