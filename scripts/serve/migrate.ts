import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { reasonOf, Refusal } from "../refusal.ts";

/** The methods of a D1 database that migrations need. */
export type Database = {
  prepare(sql: string): Statement;
  batch(statements: Statement[]): Promise<unknown>;
};
type Statement = {
  bind(...values: unknown[]): Statement;
  all(): Promise<{ results: Record<string, unknown>[] }>;
  run(): Promise<unknown>;
};

// The table of `wrangler d1 migrations apply`, so that each tool continues after the migrations of the other.
const bookkeeping = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/**
 * Applies the pending migrations of a database, in the order of their names.
 *
 * Each is one batch with its bookkeeping row: both are written or neither.
 *
 * @returns The names of the applied migrations.
 * @throws Refusal with the name of the migration that failed. Earlier migrations stay applied.
 */
export async function migrate(db: Database, directory: string): Promise<string[]> {
  await db.prepare(bookkeeping).run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all();
  const known = new Set(results.map((row) => row["name"]));
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).toSorted();
  const pending = names.filter((name) => !known.has(name));

  for (const name of pending) {
    const statements = splitStatements(await readFile(join(directory, name), "utf8"));
    try {
      await db.batch([
        ...statements.map((sql) => db.prepare(sql)),
        db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
      ]);
    } catch (error) {
      throw new Refusal(`migration ${name} failed and was not applied: ${reasonOf(error)}`);
    }
  }
  return pending;
}

/**
 * The statements of a migration, separated as drizzle-kit separates them.
 *
 * A semicolon does not always end a statement: the body of a trigger contains several.
 */
export function splitStatements(migration: string): string[] {
  return migration
    .split("--> statement-breakpoint")
    .map((statement) => statement.trim())
    .filter((statement) => statement.replaceAll(/^\s*--.*$/gm, "").trim() !== "");
}
