import type { LocalDatabase } from "./object.ts";
import type Keeper from "../keeper/worker.ts";
import {
  isRead,
  type Query,
  type QueryResult,
  type Reply,
  readMessage,
  toMessage,
  type Value,
} from "./protocol.ts";

/** Sends statements as one transaction. */
type Send = (
  queries: Query[],
  errorOf: (message: string) => Error,
) => Promise<{ results: QueryResult[]; bookmark: string }>;

/**
 * The binding of a database, which runs in the isolate of the Worker that has it. D1's interface,
 * as workerd's own client of D1 implements it: its errors, its conversions, and the names of its
 * classes, by which tools recognize it.
 *
 * @param name Names the object that holds the database.
 */
export default function openDatabase({
  databases,
  name,
  keeper,
}: {
  databases: DurableObjectNamespace<LocalDatabase>;
  name: string;
  /** In an entry process, where the database's object only reads: the process that writes. */
  keeper?: Service<Keeper>;
}): D1Database {
  const id = databases.idFromName(name);
  return new D1Database(async (queries, errorOf) => {
    const sent = toMessage(JSON.stringify(queries));
    const message =
      keeper && !queries.every(({ sql }) => isRead(sql))
        ? await keeper.query(name, sent)
        : await databases.get(id).query(sent);
    const reply = JSON.parse(await readMessage(message)) as Reply;
    if ("error" in reply) throw errorOf(reply.error);
    return reply;
  });
}

const toError = (message: string): Error => named("D1_ERROR", message);

const named = (name: string, message: string): Error =>
  new Error(`${name}: ${message}`, { cause: new Error(message) });

class D1Database {
  readonly #send: Send;
  /** The session of statements that belong to none: it has no bookmark. */
  readonly #session: D1DatabaseSession;

  constructor(send: Send) {
    this.#send = send;
    this.#session = new D1DatabaseSession(send, null);
  }

  prepare(sql: string): D1PreparedStatement {
    return this.#session.prepare(sql);
  }

  batch(statements: D1PreparedStatement[]): Promise<Result[]> {
    return this.#session.batch(statements);
  }

  /** Runs each line as a statement, all as one transaction. */
  async exec(query: string): Promise<{ count: number; duration: number }> {
    const lines = query.trim().split("\n");
    // D1 names the first line, whichever failed.
    const errorOf = (message: string): Error =>
      named("D1_EXEC_ERROR", `Error in line 1: ${lines[0]}: ${message}`);
    const queries = lines.map((sql) => ({ sql, params: [] }));
    const results = await this.#session.send(queries, errorOf);
    const duration = results.reduce((sum, { durationMs }) => sum + durationMs, 0);
    return { count: results.length, duration };
  }

  withSession(constraintOrBookmark?: string | null): D1DatabaseSession {
    return new D1DatabaseSession(this.#send, constraintOrBookmark?.trim() || FIRST_UNCONSTRAINED);
  }

  /** D1 answers the same: it has no dumps any more. */
  async dump(): Promise<ArrayBuffer> {
    throw new Error("D1_DUMP_ERROR: Status + 404", { cause: new Error("Status 404") });
  }
}

const FIRST_UNCONSTRAINED = "first-unconstrained";

/** Which databases a session may start at: no bookmarks. */
const CONSTRAINTS: ReadonlySet<string | null> = new Set([FIRST_UNCONSTRAINED, "first-primary"]);

class D1DatabaseSession {
  readonly #send: Send;
  /** The latest bookmark seen, or a constraint; null for a session that keeps none. */
  #bookmark: string | null;

  constructor(send: Send, bookmarkOrConstraint: string | null) {
    this.#send = send;
    this.#bookmark = bookmarkOrConstraint;
  }

  prepare(sql: string): D1PreparedStatement {
    return new D1PreparedStatement((queries) => this.send(queries), sql, []);
  }

  async batch(statements: D1PreparedStatement[]): Promise<Result[]> {
    const queries = statements.map(({ statement, params }) => ({ sql: statement, params }));
    return (await this.send(queries)).map(toResult);
  }

  getBookmark(): string | null {
    return CONSTRAINTS.has(this.#bookmark) ? null : this.#bookmark;
  }

  /** All calls of the session. */
  async send(queries: Query[], errorOf = toError): Promise<QueryResult[]> {
    const { results, bookmark } = await this.#send(queries, errorOf);
    if (this.#bookmark !== null && bookmark > (this.getBookmark() ?? "")) this.#bookmark = bookmark;
    return results;
  }
}

class D1PreparedStatement {
  readonly #send: (queries: Query[]) => Promise<QueryResult[]>;
  readonly statement: string;
  readonly params: readonly Value[];

  constructor(
    send: (queries: Query[]) => Promise<QueryResult[]>,
    statement: string,
    params: readonly Value[],
  ) {
    this.#send = send;
    this.statement = statement;
    this.params = params;
  }

  bind(...values: unknown[]): D1PreparedStatement {
    return new D1PreparedStatement(this.#send, this.statement, values.map(toParam));
  }

  async first(column?: string): Promise<unknown> {
    const { columns, rows } = await this.#query();
    const [row] = toObjects(columns, rows.slice(0, 1));
    if (!row) return null;
    if (column === undefined) return row;
    const value = row[column];
    if (value !== undefined) return value;
    throw new Error(`D1_COLUMN_NOTFOUND: Column not found (${column})`, {
      cause: new Error("Column not found"),
    });
  }

  async all(): Promise<Result> {
    return toResult(await this.#query());
  }

  run(): Promise<Result> {
    return this.all();
  }

  async raw(options?: { columnNames?: boolean }): Promise<unknown[][]> {
    const { columns, rows } = await this.#query();
    return options?.columnNames ? [columns, ...rows] : rows;
  }

  async #query(): Promise<QueryResult> {
    const [result] = await this.#send([{ sql: this.statement, params: this.params }]);
    if (!result) throw new Error("the database returned no result");
    return result;
  }
}

/** @throws Error with D1's message if D1 takes no such value. */
function toParam(value: unknown): Value {
  if (typeof value === "number" || typeof value === "string" || value === null) return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (Array.isArray(value) && value.every(isByte)) return value;
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
  // As D1 does: the elements of any view, and none of a DataView.
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array);
  // A symbol has no text: a TypeError, as with D1.
  throw named(
    "D1_TYPE_ERROR",
    `Type '${typeof value}' not supported for value '${value as string}'`,
  );
}

const isByte = (value: unknown): boolean => typeof value === "number" && value >= 0 && value < 256;

type Row = Record<string, Value>;
type Result = { success: true; meta: Record<string, unknown>; results: Row[] };

const toResult = (result: QueryResult): Result => ({
  success: true,
  meta: {
    served_by: "edgeforge.local-database",
    served_by_primary: true,
    total_attempts: 1,
    timings: { sql_duration_ms: result.durationMs },
    duration: result.durationMs,
    changes: result.changes,
    last_row_id: result.lastRowId,
    changed_db: result.changedDb,
    size_after: result.sizeBytes,
    rows_read: result.rowsRead,
    rows_written: result.rowsWritten,
  },
  results: toObjects(result.columns, result.rows),
});

/** Rows as objects, in which the last of several columns of a name wins. */
const toObjects = (columns: string[], rows: Value[][]): Row[] =>
  rows.map((row) => Object.fromEntries(row.map((value, at) => [columns[at] ?? "", value])));
