import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Database } from "../../../src/db/db.ts";
import { copyChanges } from "../../../src/domain/shards/copy-changes.ts";
import { copyNow } from "../../../src/domain/shards/copy-now.ts";
import { doorsWith } from "../../support/service.ts";
import { systemCtx } from "../../support/system.ts";
import {
  clearDatabases,
  copy,
  copyAll,
  databases,
  directory,
  expectCopies,
  insertRows,
  insertToken,
  NOW,
  SHARDS,
  TOKEN,
} from "./three-shards.ts";
import { failing } from "../../support/intercepted-database.ts";

const [first, second] = databases as [Database, Database, ...Database[]];

/** Requests to a service with these shards, by the account of `insertRows`. */
function open(shards: Partial<typeof SHARDS>) {
  const visit = doorsWith({}, { DB: env.DIRECTORY_DB, ...shards });
  const rename = (name: string) =>
    visit("PATCH", "/api/v1/user/settings", { token: TOKEN, json: { full_name: name } });
  return { visit, rename };
}

const nameIn = (db: Database) => db.all(sql`select full_name from users where id = 1`);

beforeEach(async () => {
  await clearDatabases();
  await insertRows();
  await insertToken();
});

describe("a request that changes a copied row", () => {
  it("is answered when all shards have it", async () => {
    const { rename } = open(SHARDS);
    expect((await rename("Ann")).status).toBe(200);
    for (const shard of databases) expect(await nameIn(shard)).toEqual([{ full_name: "Ann" }]);
    const [{ end } = { end: 0 }] = await directory.all<{ end: number }>(
      sql`select max(id) as "end" from copied_changes`,
    );
    expect(await directory.all(sql`select copied_change_id from shards`)).toEqual(
      databases.map(() => ({ copied_change_id: end })),
    );
  });

  it("asks only the shards that have the repository", async () => {
    const calls = {
      one: { at: -1, isDone: false, calls: 0 },
      two: { at: -1, isDone: false, calls: 0 },
    };
    const { visit } = open({
      SHARD_1: failing(SHARDS.SHARD_1, calls.one),
      SHARD_2: failing(SHARDS.SHARD_2, calls.two),
    });
    const json = { description: "new" };
    expect((await visit("PATCH", "/api/v1/repos/a/r", { token: TOKEN, json })).status).toBe(200);
    expect(await first.all(sql`select description from repositories`)).toEqual([json]);
    // The batch.
    expect(calls.one.calls).toBe(1);
    expect(calls.two.calls).toBe(0);
  });

  it("asks no shard when it changes other rows, or none", async () => {
    const calls = { at: -1, isDone: false, calls: 0 };
    const { visit } = open({ SHARD_1: failing(SHARDS.SHARD_1, calls) });
    expect((await visit("PUT", "/api/v1/user/starred/a/r", { token: TOKEN })).status).toBe(204);
    expect((await visit("GET", "/api/v1/user", { token: TOKEN })).status).toBe(200);
    expect(calls.calls).toBe(0);
  });

  it("is answered without a shard that fails, which the next does not wait for, and the schedule copies", async () => {
    const faults = { at: 0, isDone: false, calls: 0 };
    const { rename } = open({ ...SHARDS, SHARD_2: failing(SHARDS.SHARD_2, faults) });
    expect((await rename("Ann")).status).toBe(200);
    expect(await nameIn(first)).toEqual([{ full_name: "Ann" }]);
    expect(await nameIn(second)).toEqual([{ full_name: "" }]);
    expect(faults.calls).toBe(1);
    expect((await rename("Eve")).status).toBe(200);
    expect(await nameIn(first)).toEqual([{ full_name: "Eve" }]);
    expect(faults.calls).toBe(1);
    await copyAll();
    await expectCopies();
    await directory.run(sql`update shards set avoided_until = 0`);
    expect((await rename("Bob")).status).toBe(200);
    expect(await nameIn(second)).toEqual([{ full_name: "Bob" }]);
  });

  it("is answered when the log is too long to wait for", async () => {
    await directory.run(sql`
      insert into copied_changes (table_name, "key", shard_id)
      select 'users', json_array(value + 1000), 0
      from json_each(${JSON.stringify(Array.from({ length: 500 }, (_, at) => at))})`);
    const { rename } = open({ SHARD_1: SHARDS.SHARD_1 });
    expect((await rename("Ann")).status).toBe(200);
    expect(await nameIn(first)).toEqual([{ full_name: "" }]);
    await copy();
    expect(await nameIn(first)).toEqual([{ full_name: "Ann" }]);
  });
});

describe("copyNow", () => {
  it("brings the given shards up to date", async () => {
    await directory.run(sql`insert into shard_repositories values (2, 3)`);
    await copyNow(directory, systemCtx({ DB: env.DIRECTORY_DB, ...SHARDS }, NOW), [2]);
    expect(await second.all(sql`select id from repositories`)).toEqual([{ id: 3 }]);
  });

  /** Renames the account, and returns the entry of the log. */
  async function rename(name: string): Promise<number> {
    await directory.run(sql`update users set full_name = ${name} where id = 1`);
    const [log] = await directory.all<{ id: number }>(
      sql`select max(id) as id from copied_changes`,
    );
    return log?.id ?? 0;
  }
  const position = () => first.all(sql`select change_id, is_copying from shard_copies`);

  it("finds out how far a shard is that another request has brought further", async () => {
    await rename("Ann");
    expect(await copyChanges(directory, first)).toBe(true);
    const end = await rename("Eve");
    const calls = { at: -1, isDone: false, calls: 0 };
    const shards = { SHARD_1: failing(SHARDS.SHARD_1, calls) };
    await copyNow(directory, systemCtx({ DB: env.DIRECTORY_DB, ...shards }, NOW), [1]);
    expect(await nameIn(first)).toEqual([{ full_name: "Eve" }]);
    expect(await position()).toEqual([{ change_id: end, is_copying: 0 }]);
    // A batch that it refuses, its position, and the batch.
    expect(calls.calls).toBe(3);
  });

  // As after a restore of the shard.
  it("copies what a shard lacks of what it is known to have", async () => {
    const known = await rename("Ann");
    await directory.run(sql`update shards set copied_change_id = ${known}`);
    await directory.run(sql`update teams set name = 'new' where id = 4`);
    await copyNow(directory, systemCtx({ DB: env.DIRECTORY_DB, ...SHARDS }, NOW), [1]);
    expect(await nameIn(first)).toEqual([{ full_name: "Ann" }]);
    expect(await first.all(sql`select name from teams`)).toEqual([{ name: "new" }]);
  });

  it("copies more than it reads at once", async () => {
    await directory.run(sql`
      insert into copied_changes (table_name, "key", shard_id)
      select 'users', json_array(value + 1000), iif(value % 2, 1, 0)
      from json_each(${JSON.stringify(Array.from({ length: 150 }, (_, at) => at))})`);
    const end = await rename("Ann");
    await copyNow(directory, systemCtx({ DB: env.DIRECTORY_DB, ...SHARDS }, NOW), [1]);
    expect(await nameIn(first)).toEqual([{ full_name: "Ann" }]);
    expect(await position()).toEqual([{ change_id: end, is_copying: 0 }]);
  });

  it("does not wait longer for a shard than two seconds", async () => {
    await directory.run(sql`update users set full_name = 'Ann' where id = 1`);
    const later = setTimeout;
    const timers = vi
      .spyOn(globalThis, "setTimeout")
      .mockImplementation(((run: () => void, ms: number) =>
        later(run, ms === 2000 ? 1 : ms)) as typeof setTimeout);
    const silent = () => new Promise<never>(() => undefined);
    const prepare = () => ({ bind: prepare, all: silent, raw: silent, run: silent });
    const bindings = {
      DB: env.DIRECTORY_DB,
      SHARD_1: { withSession: () => ({ prepare, batch: silent }) },
    };
    const work: Promise<unknown>[] = [];
    const ctx = {
      ...systemCtx(bindings, NOW),
      defer: (one: Promise<unknown>) => work.push(one),
    };
    try {
      await copyNow(directory, ctx, [1]);
    } finally {
      timers.mockRestore();
    }
    // What goes on, and the note that the shard is late.
    expect(work).toHaveLength(2);
    await work[1];
    expect(await directory.all(sql`select id from shards where avoided_until > ${NOW}`)).toEqual([
      { id: 1 },
    ]);
  });
});
