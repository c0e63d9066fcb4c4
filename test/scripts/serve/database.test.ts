import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { Miniflare } from "miniflare";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { buildLocalBindings } from "../../../scripts/build/local-bindings.ts";
import { inProject } from "../../../scripts/project.ts";
import { localDatabases } from "../../../scripts/serve/database/bindings.ts";
import { type Database, migrate } from "../../../scripts/serve/migrate.ts";
import { miniflareOptions, watchWorkerd } from "../../../scripts/build/miniflare.ts";
import type { BindingServer } from "../../../scripts/serve/worker.ts";
import { makeDirectory } from "../support/temporary.ts";

const BINDINGS: Readonly<Record<BindingServer, object>> = {
  simulator: { d1Databases: { DB: "DB" } },
  local: { unsafeBindings: localDatabases(["DB"]) },
};

type Opened = { db: Database; kill: () => void; close: () => Promise<void> };

/** Opens the database of a data directory. */
async function open(server: BindingServer, data: string): Promise<Opened> {
  let pid = 0;
  const stopWatching = watchWorkerd((spawned) => (pid = spawned));
  const worker = { name: "test", modules: true, script: "export default {}", ...BINDINGS[server] };
  const mf = new Miniflare(miniflareOptions(data, [worker], () => {}));
  onTestFinished(() => mf.dispose());
  const { DB: db } = await mf.getBindings<{ DB: Database }>("test");
  stopWatching();
  return { db, kill: () => process.kill(pid, "SIGKILL"), close: () => mf.dispose() };
}

const numbersOf = async (db: Database): Promise<number[]> =>
  (await db.prepare("select n from numbers order by n").all()).results.map(({ n }) => Number(n));

beforeAll(buildLocalBindings);

const SWITCHES: [BindingServer, BindingServer][] = [
  ["simulator", "local"],
  ["local", "simulator"],
];

describe("the data of an installation", () => {
  for (const [before, after] of SWITCHES) {
    it(`is served by the ${after} database after the ${before} one, with nothing to move`, async () => {
      const data = makeDirectory();
      const old = await open(before, data);
      const names = await migrate(old.db, inProject("migrations"));
      expect(names).toContain("0000_schema.sql");
      await old.db.prepare("create table numbers (n integer primary key)").run();
      await old.db.prepare("insert into numbers values (1), (2)").run();
      await old.close();

      const current = await open(after, data);

      expect(await migrate(current.db, inProject("migrations"))).toEqual([]);
      await current.db.prepare("insert into numbers values (3)").run();
      expect(await numbersOf(current.db)).toEqual([1, 2, 3]);
    });

    it(`is whole for the ${after} database where the ${before} one was killed while it wrote`, async () => {
      const data = makeDirectory();
      const old = await open(before, data);
      await old.db.prepare("create table numbers (n integer primary key)").run();
      await old.db.prepare("create table copies (n integer primary key)").run();
      const acknowledged: number[] = [];
      const insert = async (n: number): Promise<void> => {
        const inserts = ["numbers", "copies"].map((table) =>
          old.db.prepare(`insert into ${table} values (?)`).bind(n),
        );
        await old.db.batch(inserts);
        acknowledged.push(n);
      };
      const write = async (from: number): Promise<void> => {
        for (let n = from; ; n += 4) await insert(n);
      };
      const writers = [0, 1, 2, 3].map(write);
      await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(40);
      old.kill();
      // Each writer ends by the loss of its connection.
      await Promise.allSettled(writers);
      await old.close();

      const { db, close } = await open(after, data);

      const kept = await numbersOf(db);
      expect(kept).toEqual(expect.arrayContaining(acknowledged));
      // A batch is written as a whole or not at all.
      const { results } = await db.prepare("select n from copies order by n").all();
      expect(results.map(({ n }) => n)).toEqual(kept);
      await close();
      expect(checkIntegrity(data)).toEqual([{ integrity_check: "ok" }]);
    });
  }
});

/** SQLite's own check of the only database in a data directory. */
function checkIntegrity(data: string): unknown {
  const cwd = join(data, "d1");
  const path = globSync("**/*.sqlite", { cwd }).find((name) => !name.includes("metadata"));
  const database = new DatabaseSync(join(cwd, path ?? ""));
  try {
    return database.prepare("pragma integrity_check").all();
  } finally {
    database.close();
  }
}
