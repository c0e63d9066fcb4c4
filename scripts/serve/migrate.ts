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

// The table of `wrangler d1 migrations apply`, so that each tool continues after the migrations of
// the other.
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
 * @throws Refusal if the database has a migration that the directory lacks: a version of another
 * schema made it. Nothing is written then.
 */
export async function migrate(db: Database, directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).toSorted();
  await db.prepare(bookkeeping).run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations ORDER BY name").all();
  const applied = results.map((row) => String(row["name"]));
  const foreign = applied.findLast((name) => !names.includes(name));
  if (foreign !== undefined) {
    throw new Refusal(
      `the database is of another version: it has the migration ${foreign}, which this version lacks. ` +
        'Nothing was changed. docs/migration.md, "From a version before 0.1.0", says how to bring its repositories here',
    );
  }
  const pending = names.filter((name) => !applied.includes(name));

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
