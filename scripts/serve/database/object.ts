import { DurableObject } from "cloudflare:workers";

import { effectOf } from "../../../src/db/statement-effect.ts";
import type { WriteScope } from "../../../src/lib/writes.ts";
import { urlOfWrite, WRITES } from "../keeper/protocol.ts";
import {
  isRead,
  type Message,
  type Query,
  type QueryResult,
  type Reply,
  readMessage,
  toMessage,
  type Value,
} from "./protocol.ts";

/**
 * Nearly every statement: its first character starts no comment, so that it cannot consist of
 * comments.
 */
const NOT_BLANK = /^\s*[^\s-]/;

/**
 * For how long quiet writes, of which jobs make several for each event, are gathered before other
 * processes learn of them, in milliseconds.
 */
const QUIET_MS = 100;

type Bindings = {
  /** Where other processes read the database: what tells them of writes. */
  [WRITES]?: Fetcher;
};

/** A database with D1's interface, in the SQLite of one object. */
export class LocalDatabase extends DurableObject<Bindings> {
  readonly #sql: SqlStorage;
  /** As of the last statement that may have written. */
  #counters: Counters;
  /** Bookmarks sort by time, and those of a process by the order of its batches. */
  readonly #startedAt = Date.now().toString(16).padStart(16, "0");
  #batches = 0;
  /** Whether quiet writes are still to be reported. */
  #isGathering = false;

  constructor(state: DurableObjectState, env: Bindings) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#counters = this.#readCounters();
  }

  /**
   * Runs statements as one transaction.
   *
   * The runtime holds the reply until what they wrote is on disk.
   *
   * @param message JSON of a list of {@link Query}.
   * @returns JSON of a {@link Reply}.
   */
  async query(message: Message): Promise<Message> {
    const queries = JSON.parse(await readMessage(message)) as Query[];
    const reply = this.#reply(queries);
    await this.#passOn(queries);
    return toMessage(JSON.stringify(reply));
  }

  /** The runtime sends this, as the reply, when what was written is on disk. */
  async #passOn(queries: Query[]): Promise<void> {
    const { [WRITES]: writes } = this.env;
    if (!writes) return;
    const scopes = new Set(queries.map(({ sql }) => effectOf(sql).writes));
    const tell = (scope: WriteScope) => writes.fetch(urlOfWrite(scope), { method: "POST" });
    if (scopes.has("all")) await tell("all");
    else if (scopes.has("quiet") && !this.#isGathering) {
      this.ctx.waitUntil(this.#gather(() => tell("quiet")));
    }
  }

  async #gather(tell: () => Promise<unknown>): Promise<void> {
    this.#isGathering = true;
    await scheduler.wait(QUIET_MS);
    this.#isGathering = false;
    await tell();
  }

  #reply(queries: Query[]): Reply {
    const statements = queries.filter(({ sql }) => NOT_BLANK.test(sql) || !isBlank(sql));
    if (statements.length === 0) return { error: "No SQL statements detected." };
    try {
      // Nothing runs between statements, so that those which only read need no transaction to see
      // one state.
      const results = statements.every(({ sql }) => isRead(sql))
        ? statements.map((each) => this.#read(each))
        : this.ctx.storage.transactionSync(() => this.#runAll(statements));
      return { results, bookmark: this.#nextBookmark() };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Runs the statements of a transaction. */
  #runAll(queries: Query[]): QueryResult[] {
    // Not those of the last transaction: full-text tables write when one ends.
    let before = this.#readCounters();
    return queries.map((query) => {
      const result = this.#read(query);
      if (isRead(query.sql)) return result;
      const after = this.#readCounters();
      const changes = after.totalChanges - before.totalChanges;
      const changedDb =
        changes !== 0 ||
        after.lastRowId !== before.lastRowId ||
        after.sizeBytes !== before.sizeBytes;
      this.#counters = before = after;
      const { lastRowId, sizeBytes } = after;
      return { ...result, changes, changedDb, lastRowId, sizeBytes };
    });
  }

  /** Runs a statement. @returns Its result as of one that changes nothing. */
  #read({ sql, params }: Query): QueryResult {
    const startedAt = performance.now();
    const cursor = this.#sql.exec<Record<string, SqlStorageValue>>(sql, ...params.map(toBinding));
    const columns = cursor.columnNames;
    const rows: Value[][] = [];
    for (const row of cursor.raw()) rows.push(row.map(toValue));
    const durationMs = performance.now() - startedAt;
    const { rowsRead, rowsWritten } = cursor;
    const { lastRowId, sizeBytes } = this.#counters;
    const unchanged = { changes: 0, changedDb: false, lastRowId, sizeBytes };
    return { columns, rows, rowsRead, rowsWritten, durationMs, ...unchanged };
  }

  #readCounters(): Counters {
    const [row = []] = this.#sql.exec("SELECT total_changes(), last_insert_rowid()").raw();
    const [totalChanges, lastRowId] = row.map(Number);
    const sizeBytes = this.#sql.databaseSize;
    return { totalChanges: totalChanges ?? 0, lastRowId: lastRowId ?? 0, sizeBytes };
  }

  /** As the simulator's, four hexadecimal numbers. */
  #nextBookmark(): string {
    this.#batches += 1;
    const batch = this.#batches.toString(16).padStart(8, "0");
    return `${this.#startedAt.slice(0, 8)}-${this.#startedAt.slice(8)}-${batch}-${"0".repeat(32)}`;
  }
}

/** SQLite's counters of the connection, and the size of the database. */
type Counters = { totalChanges: number; lastRowId: number; sizeBytes: number };

/** Whether a statement has nothing but comments, by the rule of D1's simulator. */
const isBlank = (sql: string): boolean => sql.replaceAll(/^\s+--.*/gm, "").trim() === "";

const toBinding = (value: Value): SqlStorageValue =>
  isBytes(value) ? new Uint8Array(value).buffer : value;

const isBytes = (value: Value): value is readonly number[] => Array.isArray(value);

const toValue = (value: SqlStorageValue): Value =>
  value instanceof ArrayBuffer ? [...new Uint8Array(value)] : value;

export default {};
