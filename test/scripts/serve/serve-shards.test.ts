import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { refuseService, startService } from "../support/service.ts";
import { makeDirectory } from "../support/temporary.ts";

let checkout: Checkout;

beforeAll(() => {
  checkout = makeCheckout();
});
afterAll(() => checkout.remove());

/** Starts a service and stops it once it listens. @returns Its output. */
async function startOnce(data: string, env: Record<string, string> = {}): Promise<string> {
  const service = await startService(checkout, { EDGEFORGE_DATA: data, ...env });
  expect(await service.stop()).toBe(0);
  return service.output();
}

type Row = Record<string, unknown>;

/** Runs queries on each database of a stopped service. @returns Their rows, by the number of the shard; 0 for the first database. */
function queryAll(
  data: string,
  queries: Record<string, string>,
): Map<number, Record<string, Row[]>> {
  const cwd = join(data, "d1");
  const paths = globSync("**/*.sqlite", { cwd }).filter((name) => !name.includes("metadata"));
  return new Map(
    paths
      .map((path): [number, Record<string, Row[]>] => {
        const database = new DatabaseSync(join(cwd, path));
        try {
          const rows = (sql: string): Row[] => database.prepare(sql).all();
          const [shard] = rows("select shard_id from shard_copies");
          const results = Object.entries(queries).map(([name, sql]) => [name, rows(sql)]);
          return [Number(shard?.["shard_id"] ?? 0), Object.fromEntries(results)];
        } finally {
          database.close();
        }
      })
      .toSorted(([one], [other]) => one - other),
  );
}

describe("a service with shards", () => {
  it("has them ready when it listens, also where it has data, and adds more", async () => {
    const data = makeDirectory();
    await startOnce(data);
    expect([...queryAll(data, {}).keys()]).toEqual([0]);

    const output = await startOnce(data, { EDGEFORGE_SHARDS: "2" });

    expect(output).toMatch(
      /^applied migrations to SHARD_1: 0000_\S+, .*\napplied migrations to SHARD_2: /m,
    );
    expect(output).toContain('setting: EDGEFORGE_SHARDS="2"');
    const users = "select name from users where kind = 'user' and id > 0";
    const found = queryAll(data, {
      users,
      shards: "select id, is_open, seeded_at > 0 as is_seeded from shards order by id",
    });
    expect(found.get(0)?.["shards"]).toEqual([
      { id: 1, is_open: 1, is_seeded: 1 },
      { id: 2, is_open: 1, is_seeded: 1 },
    ]);
    for (const id of [0, 1, 2]) expect(found.get(id)?.["users"]).toEqual([{ name: "root" }]);

    expect(await startOnce(data, { EDGEFORGE_SHARDS: "3" })).toMatch(
      /^applied migrations to SHARD_3: /m,
    );

    // As many as there are, where the environment names no number.
    expect(await startOnce(data)).not.toContain("applied");
    expect(queryAll(data, { users }).get(3)?.["users"]).toEqual([{ name: "root" }]);
  });

  it("does not start without one of them", async () => {
    const data = makeDirectory();
    await startOnce(data, { EDGEFORGE_SHARDS: "2" });

    expect(await refuseService(checkout, { EDGEFORGE_DATA: data, EDGEFORGE_SHARDS: "1" })).toEqual({
      code: 1,
      output: `EDGEFORGE_SHARDS is 1, but ${data} has 2 shards, and their number may only grow\n`,
    });

    // As after a backup that has only the databases.
    rmSync(join(data, "shards"));
    expect(await refuseService(checkout, { EDGEFORGE_DATA: data, EDGEFORGE_SHARDS: "1" })).toEqual({
      code: 1,
      output: "the shards cannot be opened: shard 2 has no database\n",
    });
    await startOnce(data, { EDGEFORGE_SHARDS: "2" });
  });
});
