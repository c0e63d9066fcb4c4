import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

import { inProject } from "../../../scripts/project.ts";
import { migrate, type Database } from "../../../scripts/serve/migrate.ts";
import { load as loadAccounts } from "../../api/load.ts";
import { populationOf } from "../../api/population.ts";
import { load as loadIssues } from "../../issues/load.ts";
import type { Measured } from "./measured.ts";

/** Rows of the large tables: enough that a table takes hundreds of pages. */
const EVENTS = 20_000;
const DELIVERIES = 20_000;
const ISSUES = 4000;
const POPULATION_SCALE = 0.1;
const STATEMENTS = 20_000;
const ROWS_OF_READ = 1000;
/** Rows that the archive of deliveries moves at once, about. */
const REPLACED_AT_ONCE = 200;

/**
 * Measures SQLite with the schema of the service, in this process: time of statements and rows, and
 * the size of rows with their entries in indexes. Without waiting for a disk, since the platform's
 * does not resemble this machine's.
 */
export async function measureTables(directory: string): Promise<Measured[]> {
  const accounts = await open(join(directory, "accounts.sqlite"));
  await loadAccounts(accounts.database, populationOf(POPULATION_SCALE));
  const issues = await open(join(directory, "issues.sqlite"));
  await loadIssues(issues.database, ISSUES);
  const { sqlite } = issues;
  const before = countEntries(sqlite);
  const insertMs = elapsed(() => insertEvents(sqlite));
  const rowMs = insertMs / (countEntries(sqlite) - before);

  const measured = [
    { name: "sqlite.statementMs", value: timeStatements(sqlite), unit: "ms" },
    { name: "sqlite.rowReadMs", value: timeRowsRead(sqlite), unit: "ms" },
    { name: "sqlite.rowWrittenMs", value: rowMs, unit: "ms" },
    ...sizes(accounts.sqlite, ["users", "email_addresses", "repositories", "stars"]),
    ...sizes(sqlite, ["issues", "timeline_entries", "events"]),
    ...archivedSizes(sqlite),
    ...searchSizes(accounts.sqlite, "repositories"),
    ...searchSizes(sqlite, "issues"),
  ];
  accounts.sqlite.close();
  sqlite.close();
  return measured;
}

async function open(file: string): Promise<{ sqlite: DatabaseSync; database: Database }> {
  const sqlite = new DatabaseSync(file);
  sqlite.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON");
  const database = asDatabase(sqlite);
  await migrate(database, inProject("migrations"));
  return { sqlite, database };
}

type Bound = ReturnType<Database["prepare"]> & { runNow: () => void };

/** A file as the D1 database that the loaders of other benchmarks fill. */
function asDatabase(sqlite: DatabaseSync): Database {
  const bound = (sql: string, values: SQLInputValue[]): Bound => ({
    bind: (...given: unknown[]) => bound(sql, given as SQLInputValue[]),
    all: async () => ({ results: sqlite.prepare(sql).all(...values) }),
    run: async () => sqlite.prepare(sql).run(...values),
    runNow: () => void sqlite.prepare(sql).run(...values),
  });
  return {
    prepare: (sql) => bound(sql, []),
    batch: async (statements) => {
      sqlite.exec("BEGIN; PRAGMA defer_foreign_keys = ON");
      for (const statement of statements as Bound[]) statement.runNow();
      sqlite.exec("COMMIT");
    },
  };
}

function insertEvents(sqlite: DatabaseSync): void {
  sqlite.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${EVENTS})
    INSERT INTO events (type, actor_id, owner_id, repo_id, visibility, is_private, payload, created_at)
    SELECT 'comment.created', 1 + i % 5, 1, 1, 'public', 0,
      json_object('issueId', i, 'number', i, 'commentId', i, 'title', 'An issue with a title ' || i), i
    FROM n`);
  const payload = JSON.stringify({ padding: "x".repeat(4000) });
  sqlite.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${DELIVERIES / 10})
    INSERT INTO webhook_events (event_id, part, event, repo_id, payload, created_at)
    SELECT i, 0, 'issue_comment', 1, '${payload}', i FROM n`);
  sqlite.exec(`
    INSERT INTO hooks (id, level, repo_id, approver_id, type, url, content_type, chat, events, is_active,
      created_at, updated_at)
    SELECT value, 'repository', 1, 1, 'gitea', 'https://example.com', 'json', 'null', '[]', 1, 0, 0
    FROM json_each('[1,2,3,4,5,6,7,8,9,10]')`);
  sqlite.exec(`
    INSERT INTO hook_deliveries (hook_id, webhook_event_id, uuid, event, status, attempt_count, request_url,
      request_headers, response_status, response_headers, response_body, duration_ms, created_at, updated_at)
    SELECT h.id, w.id, hex(randomblob(16)), 'issue_comment', 'succeeded', 1, 'https://example.com/hook',
      '${JSON.stringify({ headers: "x".repeat(400) })}', 200, '${JSON.stringify({ date: "x".repeat(200) })}',
      'ok', 100, 0, 0
    FROM hooks h CROSS JOIN webhook_events w`);
}

/** Cells of all trees: a row is one cell of its table, and one of each index that holds it. */
function countEntries(sqlite: DatabaseSync): number {
  const row = sqlite
    .prepare("SELECT sum(ncell) AS cells FROM dbstat WHERE pagetype = 'leaf'")
    .get();
  return Number(row?.["cells"]);
}

/** A read of one row by its key, prepared anew each time, as D1 does. */
function timeStatements(sqlite: DatabaseSync): number {
  const totalMs = elapsed(() => {
    for (let at = 0; at < STATEMENTS; at++)
      sqlite.prepare("SELECT * FROM issues WHERE id = ?").get(1 + (at % ISSUES));
  });
  return totalMs / STATEMENTS;
}

/** Rows of a list in the order of an index, with the row of each. */
function timeRowsRead(sqlite: DatabaseSync): number {
  const repeats = 50;
  const totalMs = elapsed(() => {
    for (let repeat = 0; repeat < repeats; repeat++)
      sqlite
        .prepare(
          "SELECT * FROM issues WHERE repo_id = 1 AND is_pull = 0 ORDER BY is_closed, updated_at LIMIT ?",
        )
        .all(ROWS_OF_READ);
  });
  // D1 counts the entry of the index and the row of the table as one row.
  return totalMs / (repeats * ROWS_OF_READ);
}

/** Bytes of tables with their indexes, for each row. */
function sizes(sqlite: DatabaseSync, tables: string[]): Measured[] {
  return tables.map((table) => {
    const bytes = sqlite
      .prepare(
        `SELECT sum(pgsize) AS bytes FROM dbstat
        WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = ?)`,
      )
      .get(table);
    return {
      name: `bytes.${table}`,
      value: Number(bytes?.["bytes"]) / countRows(sqlite, table),
      unit: "bytes/row",
    };
  });
}

/**
 * Bytes of webhook events and deliveries once their content is in the bucket, and of that content,
 * which they have before.
 */
function archivedSizes(sqlite: DatabaseSync): Measured[] {
  const before = sizes(sqlite, ["webhook_events", "hook_deliveries"]);
  replaceRows(sqlite, "webhook_events", {
    payload: "'{}'",
    archive: "'2026-11-29/0123456789abcdef'",
  });
  replaceRows(sqlite, "hook_deliveries", {
    is_archived: "1",
    request_url: "''",
    request_headers: "NULL",
    response_headers: "NULL",
    response_body: "NULL",
  });
  const after = sizes(sqlite, ["webhook_events", "hook_deliveries"]);
  const contents = after.map(({ name, value, unit }, at) => ({
    name: `${name}_content`,
    value: (before[at]?.value ?? 0) - value,
    unit,
  }));
  return [...after, ...contents];
}

/** Changes all rows as the service does, which writes them anew, some at a time. */
function replaceRows(sqlite: DatabaseSync, table: string, changes: Record<string, string>): void {
  const columns = sqlite.prepare("SELECT name FROM pragma_table_info(?)").all(table);
  const names = columns.map(({ name }) => String(name));
  const values = names.map((name) => changes[name] ?? name);
  for (let from = 0; from < countRows(sqlite, table); from += REPLACED_AT_ONCE) {
    sqlite.exec(`
      INSERT OR REPLACE INTO ${table} (${names.join()}) SELECT ${values.join()} FROM ${table}
      WHERE id > ${from} AND id <= ${from + REPLACED_AT_ONCE}`);
  }
}

/** Bytes of the full-text index, for each row of its table. */
function searchSizes(sqlite: DatabaseSync, table: string): Measured[] {
  const bytes = sqlite
    .prepare(
      `SELECT sum(s.pgsize) AS bytes FROM dbstat s
      WHERE EXISTS (SELECT 1 FROM sqlite_master m WHERE m.sql LIKE '%USING fts5%' AND s.name LIKE m.name || '_%')`,
    )
    .get();
  const value = Number(bytes?.["bytes"]) / countRows(sqlite, table);
  return [{ name: `bytes.${table}_search`, value, unit: "bytes/row" }];
}

const countRows = (sqlite: DatabaseSync, table: string): number =>
  Number(sqlite.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"]);

/** CPU time of this process, since other processes disturb the time of the clock. */
function elapsed(work: () => void): number {
  const from = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}
