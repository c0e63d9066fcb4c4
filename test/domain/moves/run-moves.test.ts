import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { SIDES } from "../../../scripts/check/crossings/sides.ts";
import { isMoving } from "../../../src/db/moves/is-moving.ts";
import { KEPT_TABLES, movedTables } from "../../../src/db/moves/moved-tables.ts";
import { cancelMove } from "../../../src/domain/moves/moves.ts";
import { runMove } from "../../../src/domain/moves/run-moves.ts";
import { copyFromShard } from "../../../src/domain/shards/copy-from-shards.ts";
import { intercepted } from "../../support/intercepted-database.ts";
import {
  directory,
  makeAccount,
  makeRepository,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";
import {
  expectSameRows,
  insertRow,
  makeNetwork,
  moveOf,
  type Network,
  withMoves,
  ownedIn,
  rowsIn,
  runUntil,
  startMove,
} from "./fixtures.ts";

withMoves();

/**
 * Notes of files of no repository; rows of the search, which follow by triggers; and packages, which are their owner's.
 */
const UNMOVED_TABLES = [
  "attachment_loose_files",
  "lfs_loose_files",
  "issues_search",
  ...[...SIDES.keys()].filter((name) => name.startsWith("package") && name !== "package_shards"),
];

describe("the tables of a move", () => {
  it("are all tables of own data, and those of each database with rows of repositories", () => {
    const moved = movedTables().map(({ name }) => name);
    const own = [...SIDES].flatMap(([name, side]) => (side === "own" ? [name] : []));
    expect([...moved, ...UNMOVED_TABLES].toSorted()).toEqual(
      [...own, "events", "hooks", "webhook_events", "hook_deliveries"].toSorted(),
    );
  });

  // SQLite gives the id of a deleted row again without AUTOINCREMENT, whatever the sequences are.
  it("give ids by sequences, or have keys that refer to other rows", () => {
    for (const { name, key, givesIds } of movedTables()) {
      expect(givesIds, name).toBe(key.length === 1 && key[0] === "id");
    }
  });
});

describe("a move", () => {
  it.each([
    [0, 1],
    [1, 2],
    [3, 1],
  ])("takes all rows of a network from %s to %s", async (source, target) => {
    const network = await makeNetwork(source);
    const { repoIds } = network;
    const [rows, owned] = [await rowsIn(source, repoIds), await ownedIn(source, repoIds)];
    for (const [table, some] of rows) expect(some, table).not.toEqual([]);
    const { id } = await startMove(network, source, target);

    const move = await runUntil(id, ["cleaning"]);

    expect(move).toMatchObject({ differenceCount: 0, freezeCount: 1, reason: "" });
    expectSameRows(await rowsIn(target, repoIds), rows);
    expect(await ownedIn(target, repoIds)).toEqual(owned);
    for (const [table, some] of rows) expect(move.rowCounts[table], table).toBe(some.length);
    const shards = (db: number) =>
      shardDatabase(db).all<{ shard: number }>(sql`select shard from repositories`);
    for (const db of [0, source, target]) {
      expect(await shards(db), `in ${db}`).toEqual([{ shard: target }, { shard: target }]);
    }
    const found = await shardDatabase(target).all(sql`
      select rowid from issues_search where issues_search match 'Word1'`);
    expect(found).toHaveLength(2);

    await runUntil(id, ["done"]);

    for (const [table, some] of await rowsIn(source, repoIds)) {
      expect(some, table).toEqual(KEPT_TABLES.includes(table) ? rows.get(table) : []);
    }
    expectSameRows(await rowsIn(target, repoIds), rows);
    for (const db of [source, target]) {
      const left = await shardDatabase(db).all(sql`
        select name from sqlite_master where type = 'trigger' and name glob '*_moves_*'`);
      expect(left).toEqual([]);
      // Their files are still used.
      expect(await shardDatabase(db).all(sql`select * from attachment_loose_files`)).toEqual([]);
      expect(await shardDatabase(db).all(sql`select * from lfs_loose_files`)).toEqual([]);
      expect(await shardDatabase(db).all(sql`select * from move_changes`)).toEqual([]);
      expect(await shardDatabase(db).all(sql`pragma foreign_key_check`)).toEqual([]);
    }
    // The source has them for the events that stay.
    const copies = sql`select distinct shard_id as id from shard_repositories order by 1`;
    expect(await directory.all(copies)).toEqual(
      [1, 2, 3]
        .filter((shard) => shard === source || shard === target)
        .map((shard) => ({ id: shard })),
    );
  });
});

/** Whether a database has the triggers, the log or a side of a move. */
async function hasTraces(shard: number): Promise<boolean> {
  const found = await shardDatabase(shard).all(sql`
    select name from sqlite_master where type = 'trigger' and name glob '*_moves_*'
    union all select 'side' from move_sides
    union all select 'repository' from moving_repositories
    union all select 'change' from move_changes
    union all select 'batch' from move_batches`);
  return found.length > 0;
}

const comment = (repoId: number) => sql`
  insert into timeline_entries (repo_id, issue_id, kind, body, created_at, updated_at)
  select ${repoId}, min(id), 'comment', 'late', 1, 1 from issues where repo_id = ${repoId}`;

describe("a move that ends before the target is named", () => {
  /** That nothing is left of it. */
  async function expectUndone(
    network: Network,
    rows: ReadonlyMap<string, unknown[]>,
  ): Promise<void> {
    expectSameRows(await rowsIn(1, network.repoIds), rows);
    for (const [table, left] of await rowsIn(2, network.repoIds)) expect(left, table).toEqual([]);
    for (const shard of [1, 2]) {
      expect(await hasTraces(shard)).toBe(false);
      expect(await shardDatabase(shard).all(sql`select * from attachment_loose_files`)).toEqual([]);
      expect(await shardDatabase(shard).all(sql`select * from lfs_loose_files`)).toEqual([]);
    }
    expect(
      await directory.all(sql`select distinct shard_id as id from shard_repositories`),
    ).toEqual([{ id: 1 }]);
    expect(await directory.all(sql`select distinct shard from repositories`)).toEqual([
      { shard: 1 },
    ]);
    await shardDatabase(1).run(comment(network.repo.id));
  }

  it.each(["copying", "following", "frozen"] as const)(
    "leaves the source as it was, and nothing in the target: cancelled while %s",
    async (state) => {
      const network = await makeNetwork(1);
      const rows = await rowsIn(1, network.repoIds);
      const { id } = await startMove(network, 1, 2);
      // The job dies when the move is there.
      const reached = { isThere: false };
      const DB = intercepted(env.DIRECTORY_DB, async (call) => {
        const result = reached.isThere ? undefined : await call();
        reached.isThere ||= (await moveOf(id)).state === state;
        if (reached.isThere) throw new Error("no answer");
        return result;
      });
      for (let runs = 0; runs < 50 && !reached.isThere; runs++) {
        await directory.run(sql`update repository_moves set due_at = 0, leased_until = 0`);
        await runMove(shardedCtx({ DB }), id).catch(() => undefined);
      }
      expect((await moveOf(id)).state).toBe(state);
      await directory.run(sql`update repository_moves set due_at = 0, leased_until = 0`);

      await cancelMove(shardedCtx(), id);
      expect(await runUntil(id, ["cancelled", "failed", "done"])).toMatchObject({
        state: "cancelled",
      });

      await expectUndone(network, rows);
    },
  );

  it("fails with its repositories", async () => {
    const network = await makeNetwork(1);
    const { id } = await startMove(network, 1, 2);
    await runMove(shardedCtx(), id);
    await directory.run(
      sql`update repository_moves set state = 'following', finished_at = null, moved_at = null`,
    );
    await directory.run(sql`delete from repositories`);
    expect(await runUntil(id, ["failed", "cleaning"], { runsMax: 60 })).toMatchObject({
      state: "failed",
    });
  });
});

describe("what a move waits for", () => {
  it.each([
    ["events", sql`update events set dispatch_at = 1`, sql`update events set dispatch_at = null`],
    [
      "consequences",
      sql`update events set consequences_at = 1`,
      sql`update events set consequences_at = null`,
    ],
    [
      "mirrors",
      sql`update pull_mirrors set leased_until = 9e12`,
      sql`update pull_mirrors set leased_until = 0`,
    ],
    ["imports", sql`update imports set state = 'running'`, sql`update imports set state = 'done'`],
    [
      "merges",
      sql`update merge_queues set state = 'building'`,
      sql`update merge_queues set state = 'idle'`,
    ],
  ])("are %s under way: until then the source is open", async (_what, begin, end) => {
    const network = await makeNetwork(0);
    const { id } = await startMove(network, 0, 1);
    await directory.run(begin);
    await runUntil(id, ["copying", "following"], { runsMax: 1 });
    for (let runs = 0; runs < 3; runs++) {
      await directory.run(sql`update repository_moves set due_at = 0, leased_until = 0`);
      await runMove(shardedCtx(), id);
    }
    expect(await moveOf(id)).toMatchObject({
      state: "following",
      reason: "events, mirrors, merges or an import are under way",
    });
    await directory.run(comment(network.repo.id));

    await directory.run(end);

    expect(await runUntil(id, ["cleaning", "failed"])).toMatchObject({ state: "cleaning" });
    expect((await rowsIn(1, [network.repo.id])).get("timeline_entries")).toContainEqual(
      expect.objectContaining({ body: "late" }),
    );
  });
});

describe("forks and writes", () => {
  it("a fork that is made while its parent moves comes along", async () => {
    const network = await makeNetwork(1);
    const { id } = await startMove(network, 1, 2);
    await shardDatabase(1).run(sql`update events set dispatch_at = 1`);
    await runMove(shardedCtx(), id);
    expect(await moveOf(id)).toMatchObject({ state: "following", entered: network.repoIds });
    const late = await makeRepository(await makeAccount(), 1);
    await directory.run(
      sql`update repositories set network_name = ${network.repo.networkName} where id = ${late.id}`,
    );
    await insertRow(shardDatabase(1), "issues", { repo_id: late.id, number: 1 });
    await shardDatabase(1).run(sql`update events set dispatch_at = null`);

    await runUntil(id, ["cleaning"]);

    expect((await rowsIn(2, [late.id])).get("issues")).toHaveLength(1);
    expect((await moveOf(id)).entered).toEqual([...network.repoIds, late.id]);
  });

  it("the source refuses writes that come late, of own tables and of what the row has, and the first database takes copies", async () => {
    const network = await makeNetwork(0);
    const { id } = await startMove(network, 0, 1);
    await runUntil(id, ["cleaning"]);
    const rows = await rowsIn(0, network.repoIds);

    for (const statement of [
      comment(network.repo.id),
      sql`update issues set title = 'late'`,
      sql`delete from reactions`,
      sql`delete from issues`,
      sql`update repositories set size_bytes = 77 where id = ${network.repo.id}`,
      sql`insert into events (type, actor_id, owner_id, repo_id, payload, created_at)
        values ('late', 1, 1, ${network.repo.id}, '{}', 1)`,
    ]) {
      const late = directory.run(statement);
      await expect(late.catch((error: unknown) => isMoving(error))).resolves.toBe(true);
    }

    expectSameRows(await rowsIn(0, network.repoIds), rows);
    await shardDatabase(1).run(
      sql`update repositories set size_bytes = 78 where id = ${network.repo.id}`,
    );
    await copyFromShard(directory, shardDatabase(1));
    expect(
      await directory.all(sql`select size_bytes from repositories where id = ${network.repo.id}`),
    ).toEqual([{ size_bytes: 78 }]);
    // Others are written as before.
    const other = await makeRepository(network.owner, 0);
    await insertRow(directory, "issues", { repo_id: other.id, number: 1 });
  });
});
