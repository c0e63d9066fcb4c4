import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeEach, describe, expect, it } from "vitest";

import { buildLocalBindings } from "../../../scripts/build/local-bindings.ts";
import { localDatabases } from "../../../scripts/serve/database/bindings.ts";
import { type Database, migrate, splitStatements } from "../../../scripts/serve/migrate.ts";
import { inProject } from "../../../scripts/project.ts";
import { makeDirectory } from "../support/temporary.ts";

await buildLocalBindings();
const names = Array.from({ length: 7 }, (_, index) => `DB${index}`);
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

// Migrations do not change once merged: a service of the first schema goes on with its data.
it("brings a database of the first schema up to date, with its rows", async () => {
  const all = inProject("migrations");
  const first = ["0000_schema.sql", "0001_triggers.sql"].map(
    (name) => [name, readFileSync(join(all, name), "utf8")] as const,
  );
  await migrate(db, makeDirectory(Object.fromEntries(first)));
  const times = "created_at, updated_at";
  for (const statement of [
    `INSERT INTO users (id, kind, name, lower_name, ${times}) VALUES (7, 'user', 'Ada', 'ada', 1, 2)`,
    `INSERT INTO repositories (id, owner_id, name, lower_name, is_private, default_branch,
       pull_settings, issue_settings, ${times})
     VALUES (8, 7, 'Engine', 'engine', 1, 'main', '{}', '{}', 3, 4)`,
    `INSERT INTO issues (id, repo_id, number, title, ${times}) VALUES (9, 8, 1, 'Faster', 5, 6)`,
    `INSERT INTO pulls (issue_id, repo_id, head_repo_id, head_branch, base_branch, head_oid,
       judged_base_oid, judged_head_oid)
     VALUES (9, 8, 8, 'topic', 'main', 'c3', 'a1', 'b2')`,
  ]) {
    await db.prepare(statement).run();
  }

  const applied = await migrate(db, all);

  expect(applied).toEqual(
    readdirSync(all).filter((name) => name.endsWith(".sql") && name > "0002"),
  );
  expect(await rows("SELECT * FROM users WHERE id > 0")).toMatchObject([{ id: 7, name: "Ada" }]);
  expect(await rows("SELECT * FROM repositories")).toMatchObject([{ id: 8, name: "Engine" }]);
  expect(await rows("SELECT * FROM pulls JOIN issues ON issues.id = issue_id")).toMatchObject([
    { title: "Faster", head_oid: "c3", checked_base_oid: "a1", checked_head_oid: "b2" },
  ]);
  // The triggers of the first schema, which name columns, go on.
  await db.prepare("UPDATE issues SET title = 'Slower' WHERE id = 9").run();
  expect(await rows("PRAGMA foreign_key_check")).toEqual([]);
});

describe("splitStatements", () => {
  it("omits parts that contain only a comment", () => {
    expect(splitStatements("-- why\n--> statement-breakpoint\nSELECT 1;\n")).toEqual(["SELECT 1;"]);
  });
});
