import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { beforeEach, describe, expect, it } from "vitest";

import { SHARD_OWNED } from "../../../src/db/copies/copied-tables.ts";
import { type Database, openDatabase } from "../../../src/db/db.ts";
import { copyFromShard, copyFromShards } from "../../../src/domain/shards/copy-from-shards.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import { searchRepositories } from "../../../src/domain/repos/search-repositories.ts";
import { systemCtx } from "../../support/system.ts";
import { drawFrom } from "./directory-changes.ts";
import { failing, intercepted } from "../../support/intercepted-database.ts";
import { clearDatabases, databases, directory, SHARDS } from "./three-shards.ts";

const NOW = Date.UTC(2026, 0, 31);
const [shard1, shard2] = databases as [Database, Database, Database];
const ctxOf = (bindings: Partial<typeof SHARDS> & { DB?: D1Database } = SHARDS) =>
  systemCtx({ DB: env.DIRECTORY_DB, ...bindings }, NOW);

/** Each shard has this many repositories. */
const REPOSITORIES = 6;
const COLUMNS = sql.join(
  SHARD_OWNED.map((column) => sql.identifier(toSnakeCase(column))),
  sql`, `,
);

beforeEach(async () => {
  await clearDatabases();
  await copyToShards(ctxOf());
  await directory.run(sql`
    insert into users (id, kind, name, lower_name, visibility, created_at, updated_at)
    values (7, 'user', 'ann', 'ann', 'public', 1, 1)`);
  for (let id = 1; id <= 3 * REPOSITORIES; id++) {
    await directory.run(sql`
      insert into repositories (
        id, shard, owner_id, name, lower_name, is_private, visibility, default_branch, object_name,
        network_name, pull_settings, issue_settings, created_at, updated_at
      ) values (
        ${id}, ${(id % 3) + 1}, 7, ${`r${id}`}, ${`r${id}`}, 0, 'public', 'main', ${crypto.randomUUID()},
        'n', '{}', '{}', 1, 1
      )`);
  }
  await copyToShards(ctxOf());
});

/** What of each repository's row belongs to its shard, as the shards have it. */
async function ownedRows(): Promise<unknown[]> {
  const rows = await Promise.all(
    databases.map((db) =>
      db.all<{ id: number }>(
        sql`select id, ${COLUMNS} from repositories where shard = (select shard_id from shard_copies)`,
      ),
    ),
  );
  return rows.flat().toSorted((a, b) => a.id - b.id);
}
const copiedRows = () => directory.all(sql`select id, ${COLUMNS} from repositories order by id`);
const notes = (db: Database) => db.all(sql`select repo_id from owned_changes`);

/** Times only grow, as in the service. */
let clock = 1000;
/** Of issues and releases. */
let number = 0;

/** Changes of own data, as the service makes them, each in a drawn shard. */
function changesOf(draw: (below: number) => number): (() => Promise<unknown>)[] {
  const changes: ((repoId: number) => ReturnType<typeof sql>)[] = [
    (id) => sql`
      insert into issues (repo_id, number, is_pull, is_closed, title, created_at, updated_at)
      values (${id}, ${(number += 1)}, ${draw(2)}, ${draw(2)}, 't', 1, 1)`,
    (id) => sql`update repositories set last_issue_number = last_issue_number + 1 where id = ${id}`,
    (id) => sql`update issues set is_closed = 1 - is_closed where repo_id = ${id}`,
    (id) => sql`delete from issues where id = (select max(id) from issues where repo_id = ${id})`,
    (id) => sql`
      insert into releases (repo_id, tag_name, lower_tag_name, target, is_draft, created_at)
      values (${id}, ${`v${(number += 1)}`}, ${`v${number}`}, 'main', ${draw(2)}, 1)`,
    (id) => sql`update releases set is_draft = 1 - is_draft where repo_id = ${id}`,
    (id) =>
      sql`delete from releases where id = (select max(id) from releases where repo_id = ${id})`,
    (id) => sql`
      update repositories set
        is_empty = 0, size_bytes = ${draw(1000)}, default_branch = ${`b"'ü${draw(5)}`},
        updated_at = max(updated_at, ${(clock += 1)})
      where id = ${id}`,
    (id) => sql`update repositories set lfs_size_bytes = lfs_size_bytes + 5 where id = ${id}`,
    (id) =>
      sql`update repositories set language = ${`l${draw(9)}`}, licenses = '["MIT","a\\"b"]' where id = ${id}`,
    (id) => sql`
      update repositories set is_mirror = 1, origin = json_object('url', ${`"ü\\${draw(9)}`}) where id = ${id}`,
    (id) => sql`update repositories set is_mirror = 0, origin = null where id = ${id}`,
  ];
  return changes.map((make) => async () => {
    const id = draw(3 * REPOSITORIES) + 1;
    await databases[id % 3]?.run(make(id));
  });
}

/** Makes changes of drawn kinds, usually after one of each, among changes of the first database and copies. */
async function change(count: number, seed: number, { isEach = true } = {}): Promise<void> {
  const draw = drawFrom(seed);
  const changes = changesOf(draw);
  const among = [
    () =>
      directory.run(sql`
        update repositories set description = ${`d${(clock += 1)}`}, updated_at = ${clock}
        where id = ${draw(3 * REPOSITORIES) + 1}`),
    () => copyToShards(ctxOf()),
    () => copyFromShard(directory, databases[draw(3)] as Database),
  ];
  if (isEach) for (const each of changes) await each();
  for (let at = 0; at < count; at++) {
    await changes[draw(changes.length)]?.();
    if (draw(5) === 0) await among[draw(among.length)]?.();
  }
}

/** Copies both ways: the later time of each repository is then in both. */
async function copyBoth(): Promise<void> {
  await directory.run(sql`update repositories set description = ${`d${(clock += 1)}`}`);
  await copyToShards(ctxOf());
  await copyFromShards(ctxOf());
}

async function expectCopies(): Promise<void> {
  const owned = await ownedRows();
  expect(owned).toHaveLength(3 * REPOSITORIES);
  expect(await copiedRows()).toEqual(owned);
  for (const db of databases) expect(await notes(db)).toEqual([]);
}

describe("what shards own, in the first database", () => {
  it.each(env.TEST_ALL ? [1, 2, 3, 4, 5, 6] : [1, 2])(
    "is equal after random changes in three shards (%s)",
    async (seed) => {
      await change(150, seed);
      const before = await ownedRows();
      await copyBoth();
      await expectCopies();
      // The way back changes nothing in a shard but times of changes in the first database.
      const withoutTime = (rows: unknown[]) =>
        rows.map((row) => ({ ...(row as object), updated_at: 0 }));
      expect(withoutTime(await ownedRows())).toEqual(withoutTime(before));
    },
  );

  it("is equal after each call of the copying has failed once, or was done without an answer", async () => {
    for (const isDone of [false, true]) {
      for (let at = 0; ; at++) {
        await change(10, at, { isEach: false });
        await shard1.run(sql`update repositories set size_bytes = size_bytes + 1`);
        const faults = { at, isDone, calls: 0 };
        const bindings = {
          DB: failing(env.DIRECTORY_DB, faults),
          SHARD_1: failing(env.TEST_SHARD_1, faults),
        };
        await copyFromShards(ctxOf(bindings));
        await copyBoth();
        await expectCopies();
        if (faults.calls <= at) break;
        expect(at).toBeLessThan(20);
      }
    }
  }, 120_000);

  it("is equal after runs at once, between changes", async () => {
    for (const seed of [1, 2, 3]) {
      await Promise.all([
        change(20, seed, { isEach: false }),
        copyFromShards(ctxOf()),
        copyFromShards(ctxOf()),
        copyFromShards(ctxOf()),
      ]);
    }
    await copyBoth();
    await expectCopies();
  });

  // The first run has read the older value when the second one reads, writes and forgets the newer one.
  it("is never replaced by an older value of a slower run", async () => {
    const set = (size: number) =>
      shard1.run(sql`update repositories set size_bytes = ${size} where id = 3`);
    const size = () => directory.all(sql`select size_bytes from repositories where id = 3`);
    await set(1);
    const slow = intercepted(env.DIRECTORY_DB, async (call) => {
      await set(2);
      await copyFromShard(directory, shard1);
      expect(await size()).toEqual([{ size_bytes: 2 }]);
      return call();
    });
    await copyFromShard(openDatabase(slow.withSession("first-primary")), shard1);
    expect(await size()).toEqual([{ size_bytes: 2 }]);
    await set(3);
    await copyFromShard(directory, shard1);
    expect(await size()).toEqual([{ size_bytes: 3 }]);
  });

  it("is noted until it is written as it is now", async () => {
    const set = (size: number) =>
      shard1.run(sql`update repositories set size_bytes = ${size} where id = 3`);
    await set(1);
    // It changes again while the first value is on its way, and the run ends after that page.
    const slow = intercepted(env.DIRECTORY_DB, async (call) => {
      await set(2);
      return call();
    });
    let calls = 0;
    const ending = intercepted(env.TEST_SHARD_1, async (call) => {
      const result = await call();
      if (++calls === 2) throw new Error("no answer");
      return result;
    });
    const run = copyFromShard(
      openDatabase(slow.withSession("first-primary")),
      openDatabase(ending.withSession("first-primary")),
    );
    await expect(run).rejects.toThrow("no answer");
    expect(await directory.all(sql`select size_bytes from repositories where id = 3`)).toEqual([
      { size_bytes: 1 },
    ]);
    expect(await notes(shard1)).toEqual([{ repo_id: 3 }]);
    await copyFromShard(directory, shard1);
    expect(await directory.all(sql`select size_bytes from repositories where id = 3`)).toEqual([
      { size_bytes: 2 },
    ]);
  });

  it("is not noted for a change that leaves the value, nor for a row of another shard", async () => {
    await directory.run(sql`insert into shard_repositories values (1, 1)`);
    await copyToShards(ctxOf());
    await shard1.run(sql`update repositories set is_empty = is_empty, origin = null`);
    await shard1.run(sql`update repositories set size_bytes = 5 where id = 1`);
    expect(await notes(shard1)).toEqual([]);
    await shard1.run(sql`update repositories set size_bytes = 5 where id = 3`);
    expect(await notes(shard1)).toEqual([{ repo_id: 3 }]);
  });

  it("reaches other shards that have the row", async () => {
    await directory.run(sql`insert into shard_repositories values (2, 3)`);
    await copyToShards(ctxOf());
    await shard1.run(sql`
      update repositories set is_mirror = 1, is_empty = 0, size_bytes = 5 where id = 3`);
    await copyFromShards(ctxOf());
    expect(await directory.all(sql`select shard_id from copied_changes`)).toEqual([
      { shard_id: 2 },
    ]);
    await copyToShards(ctxOf());
    expect(
      await shard2.all(sql`select is_mirror, is_empty, size_bytes from repositories where id = 3`),
    ).toEqual([{ is_mirror: 1, is_empty: 0, size_bytes: 5 }]);
    expect(await notes(shard2)).toEqual([]);
  });

  it("stays as another shard wrote it once the repository has moved there", async () => {
    await shard1.run(sql`update repositories set size_bytes = 5 where id = 3`);
    await directory.run(sql`update repositories set shard = 2, size_bytes = 6 where id = 3`);
    await copyFromShards(ctxOf());
    expect(await directory.all(sql`select size_bytes from repositories where id = 3`)).toEqual([
      { size_bytes: 6 },
    ]);
    expect(await notes(shard1)).toEqual([]);
  });

  it("leaves a later time of a change in the first database", async () => {
    await directory.run(sql`update repositories set updated_at = 9`);
    const times = () => directory.all(sql`select updated_at from repositories where id = 3`);
    for (const [time, after] of [
      [5, 9],
      [11, 11],
    ]) {
      await shard1.run(sql`update repositories set updated_at = ${time} where id = 3`);
      await copyFromShards(ctxOf());
      expect(await times()).toEqual([{ updated_at: after }]);
    }
  });

  it("goes with a deleted repository", async () => {
    await shard1.run(sql`update repositories set size_bytes = 5 where id = 3`);
    await directory.run(sql`delete from repositories where id = 3`);
    await copyFromShards(ctxOf());
    await copyToShards(ctxOf());
    await shard1.run(sql`update repositories set size_bytes = 6`);
    expect(await notes(shard1)).not.toContainEqual({ repo_id: 3 });
    expect(await directory.all(sql`select 1 from repositories where id = 3`)).toEqual([]);
  });

  it("is copied for more repositories than one step takes", async () => {
    await directory.run(sql`
      insert into repositories (
        shard, owner_id, name, lower_name, is_private, default_branch, object_name, network_name,
        pull_settings, issue_settings, created_at, updated_at
      )
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 250)
      select 1, 7, 'n' || i, 'n' || i, 0, 'main', hex(randomblob(9)), 'n', '{}', '{}', 1, 1 from n`);
    await copyToShards(ctxOf());
    await shard1.run(sql`update repositories set size_bytes = id`);
    await copyFromShard(directory, shard1);
    expect(
      await directory.all(
        sql`select count(*) as count from repositories where shard = 1 and size_bytes = id`,
      ),
    ).toEqual([{ count: 250 + REPOSITORIES }]);
    expect(await notes(shard1)).toEqual([]);
  });

  it("is what lists and the search show", async () => {
    await shard1.run(sql`update repositories set size_bytes = 9, updated_at = 9 where id = 3`);
    await shard2.run(
      sql`update repositories set size_bytes = 8, open_issue_count = 4 where id = 4`,
    );
    await shard2.run(sql`update repositories set is_mirror = 1, language = 'Rust' where id = 4`);
    await copyFromShards(ctxOf());
    const find = async (mode?: "mirror", text = "") => {
      const query = {
        text,
        mode,
        isDescriptionSearched: false,
        isTopic: false,
        ownerId: undefined,
        isExclusive: false,
        priorityOwnerId: undefined,
        teamId: undefined,
        starredById: undefined,
        isPrivate: undefined,
        isTemplate: undefined,
        isArchived: undefined,
        sort: "size",
        isDescending: true,
      } as const;
      const { items } = await searchRepositories(ctxOf(), query, { size: 2, offset: 0 });
      return items.map(({ row }) => row);
    };
    expect(await find()).toMatchObject([
      { id: 3, sizeBytes: 9, updatedAt: 9 },
      { id: 4, sizeBytes: 8, openIssueCount: 4, language: "Rust" },
    ]);
    expect(await find("mirror")).toMatchObject([{ id: 4 }]);
    // By the index of words, of which each row is found once.
    expect(await find(undefined, "r4")).toMatchObject([{ id: 4, sizeBytes: 8 }]);
  });
});
