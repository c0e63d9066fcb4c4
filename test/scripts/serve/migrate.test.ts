import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeEach, describe, expect, it } from "vitest";

import { buildLocalBindings } from "../../../scripts/build/local-bindings.ts";
import { localDatabases } from "../../../scripts/serve/database/bindings.ts";
import { type Database, migrate, splitStatements } from "../../../scripts/serve/migrate.ts";
import { makeDirectory } from "../support/temporary.ts";

await buildLocalBindings();
const names = Array.from({ length: 6 }, (_, index) => `DB${index}`);
const mf = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: "export default {}",
    unsafeBindings: localDatabases(names),
  }),
);
afterAll(() => mf.dispose());

// One database per test in a shared runtime, because starting a runtime takes longer than all
// tests.
let db: Database;
let next = 0;
beforeEach(async () => {
  const bindings = await mf.getBindings<Record<string, Database>>();
  const database = bindings[`DB${next++}`];
  if (!database) throw new Error("there are more tests than databases");
  db = database;
});

async function rows(sql: string): Promise<unknown[]> {
  return (await db.prepare(sql).all()).results;
}

const trigger = `CREATE TRIGGER counted AFTER INSERT ON things BEGIN
  UPDATE counts SET n = CASE WHEN n > 9 THEN 9 ELSE n + 1 END; -- a comment; with a semicolon
  INSERT INTO notes VALUES ('--> not a; breakpoint');
END;`;

describe("migrate", () => {
  it("applies each migration once, in order of their names", async () => {
    const directory = makeDirectory({
      "0001_second.sql": "INSERT INTO things VALUES (1);",
      "0000_first.sql": "CREATE TABLE things (id INTEGER);",
      "meta/_journal.json": "{}",
    });

    expect(await migrate(db, directory)).toEqual(["0000_first.sql", "0001_second.sql"]);
    expect(await migrate(db, directory)).toEqual([]);
    expect(await rows("SELECT * FROM things")).toEqual([{ id: 1 }]);
  });

  it("does not split a trigger at its semicolons", async () => {
    const tables = "CREATE TABLE things (id); CREATE TABLE counts (n); CREATE TABLE notes (text);";
    const separator = "\n--> statement-breakpoint\n";
    const seed = "INSERT INTO counts VALUES (0);";
    const sql = [tables, trigger, seed, "INSERT INTO things VALUES (1);"].join(separator);

    await migrate(db, makeDirectory({ "0000_trigger.sql": sql }));

    expect(await rows("SELECT n FROM counts")).toEqual([{ n: 1 }]);
    expect(await rows("SELECT text FROM notes")).toEqual([{ text: "--> not a; breakpoint" }]);
  });

  it("rolls back a failing migration, names it, and keeps earlier migrations", async () => {
    const directory = makeDirectory({
      "0000_good.sql": "CREATE TABLE things (id INTEGER);",
      "0001_bad.sql":
        "INSERT INTO things VALUES (1);\n--> statement-breakpoint\nINSERT INTO nowhere VALUES (1);",
    });

    await expect(migrate(db, directory)).rejects.toThrow(/^migration 0001_bad\.sql failed/);

    expect(await rows("SELECT * FROM things")).toEqual([]);
    expect(await rows("SELECT name FROM d1_migrations")).toEqual([{ name: "0000_good.sql" }]);
  });

  it("refuses a database with a migration that this version lacks, and changes nothing", async () => {
    await migrate(db, makeDirectory({ "0000_earlier.sql": "CREATE TABLE things (id INTEGER);" }));

    const directory = makeDirectory({ "0000_schema.sql": "CREATE TABLE things (id INTEGER);" });
    await expect(migrate(db, directory)).rejects.toThrow(
      /has the migration 0000_earlier\.sql, which this version lacks\. Nothing was changed/,
    );

    expect(await rows("SELECT name FROM d1_migrations")).toEqual([{ name: "0000_earlier.sql" }]);
    expect(await rows("SELECT name FROM sqlite_master WHERE name = 'things'")).toHaveLength(1);
  });

  it("continues after wrangler's migrations", async () => {
    await db
      .prepare(
        `CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
         applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`,
      )
      .run();
    await db.prepare("INSERT INTO d1_migrations (name) VALUES ('0000_old.sql')").run();
    const directory = makeDirectory({
      "0000_old.sql": "this would fail",
      "0001_new.sql": "CREATE TABLE things (id INTEGER);",
    });

    expect(await migrate(db, directory)).toEqual(["0001_new.sql"]);
  });
});

describe("splitStatements", () => {
  it("omits parts that contain only a comment", () => {
    expect(splitStatements("-- why\n--> statement-breakpoint\nSELECT 1;\n")).toEqual(["SELECT 1;"]);
  });
});
