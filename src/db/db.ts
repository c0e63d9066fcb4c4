import { and, getTableColumns, is, or, Placeholder, sql, type SQL, type Table } from "drizzle-orm";
import { DrizzleD1Database, SQLiteD1Session } from "drizzle-orm/d1";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";

import { type D1, MeteredD1, meterD1 } from "./meter.ts";

/** A parameter that is a limit or an offset. */
const BOUND_LIMIT = /\b(limit|offset) (?=\?)/g;

/**
 * Writes `limit +?` for `limit ?`.
 *
 * SQLite plans by the value of a parameter that is a limit itself, and so compiles a statement anew
 * for each call that binds it: 0.5 of the 0.6 ms of a page of pull requests. It does not look
 * behind the sign, which changes no value, and learns nothing by looking: D1 binds every number as
 * a real, and the planner reads integers only.
 *
 * @see sqlite3ExprIsInteger in SQLite's expr.c
 */
class Dialect extends SQLiteAsyncDialect {
  override sqlToQuery(...given: Parameters<SQLiteAsyncDialect["sqlToQuery"]>) {
    const query = super.sqlToQuery(...given);
    query.sql = query.sql.replaceAll(BOUND_LIMIT, "$1 +");
    return query;
  }
}

/**
 * Keeps the names of columns in SQL. Drizzle's own function makes one for each database, which is
 * for each request.
 */
const dialect = new Dialect({ casing: "snake_case" });

/**
 * Numbers parameters, so that SQL names one again where it repeats it. Integers are no parameters:
 * they are the same for each call, and for a parameter that is compared with the condition of a
 * partial index SQLite would compile the statement again for each binding.
 */
class NumberingDialect extends Dialect {
  readonly params: unknown[] = [];

  // Drizzle calls it unbound.
  override escapeParam = (_at: number, param?: unknown): string => {
    if (typeof param === "number" && Number.isSafeInteger(param)) return `(${param})`;
    const same = (each: unknown): boolean =>
      each === param ||
      (is(each, Placeholder) && is(param, Placeholder) && each.name === param.name);
    const at = this.params.findIndex(same);
    return `?${at >= 0 ? at + 1 : this.params.push(param)}`;
  };
}

const numbering = new NumberingDialect({ casing: "snake_case" });

type Session = SQLiteD1Session<Record<string, never>, Record<string, never>>;

/** Counts the queries whose SQL Drizzle has built for it. */
class CountingSession extends SQLiteD1Session<Record<string, never>, Record<string, never>> {
  buildCount = 0;

  override prepareQuery(...query: Parameters<Session["prepareQuery"]>) {
    this.buildCount += 1;
    return super.prepareQuery(...query);
  }
}

/** D1 through Drizzle, without its relational queries: lists write their joins explicitly. */
export class Database extends DrizzleD1Database {
  readonly #counted: { readonly count: number };
  readonly #prepare: D1["prepare"];
  readonly #session: CountingSession;

  constructor(d1: D1, queryDialect: SQLiteAsyncDialect = dialect) {
    const counted = { count: 0 };
    const counting: D1 = {
      prepare(query) {
        counted.count += 1;
        return d1.prepare(query);
      },
      batch: (statements) => d1.batch(statements),
    };
    const session = new CountingSession(counting as D1Database, queryDialect, undefined);
    super("async", queryDialect, session, undefined);
    this.#counted = counted;
    this.#prepare = counting.prepare;
    this.#session = session;
  }

  /** How often SQL was built so far, rather than taken from what `prepare` has kept. */
  get sqlBuildCount(): number {
    return this.#session.buildCount;
  }

  /** Counts a build that was made on behalf of this database. */
  noteSqlBuild(): void {
    this.#session.buildCount += 1;
  }

  /** A statement of SQL that is built already. */
  statement(text: string): D1PreparedStatement {
    return this.#prepare(text);
  }

  /** Statements prepared so far. The platform takes 1,000 of one invocation. */
  get statementCount(): number {
    return this.#counted.count;
  }
}

/** A database whose writes are followed, so that nothing outlives them that was read before. */
export const openDatabase = (d1: D1): Database =>
  new Database(d1 instanceof MeteredD1 ? d1 : meterD1(d1, { rows: false }).d1);

/** Builds the SQL of queries that are run elsewhere. */
const builder = new Database(
  {
    prepare: () => ({}) as D1PreparedStatement,
    batch: () => Promise.reject(new Error("a builder of SQL runs nothing")),
  },
  numbering,
);
export const openBuilder = (): Database => builder;

/**
 * Builds SQL by `build`, which uses the builder, and returns the parameters by their numbers: one
 * that stands in many places is bound once.
 */
export function withNumbers<T>(build: () => T): { result: T; params: readonly unknown[] } {
  const { params } = numbering;
  params.length = 0;
  const result = build();
  return { result, params: params.splice(0) };
}

/**
 * SQL as a column of a query over one table. In such a query Drizzle drops the table names from
 * columns that are embedded directly, which makes a column like `name` ambiguous in a subquery with
 * joins.
 */
export const qualified = <T>(query: SQL): SQL<T> => sql<T>`${query}`;

/** A condition as a boolean column: SQLite returns 0 or 1. */
export const flagColumn = (condition: SQL, name: string): SQL.Aliased<boolean> =>
  qualified<boolean>(condition)
    .mapWith((value: unknown) => value === 1)
    .as(name);

/**
 * A value that is written only if a condition holds at the time of the write. Otherwise the value
 * is null, which violates the column's NOT NULL constraint and rolls back the batch.
 */
export const onlyWhile = <T>(condition: SQL, value: T | SQL<T>): SQL<T> =>
  sql<T>`case when ${condition} then ${value} end`;

type Condition = SQL | undefined;

/** `and` that is true without conditions. */
export const allOf = (...conditions: Condition[]): SQL => and(...conditions) ?? sql`1`;

/** `or` that is false without conditions. */
export const anyOf = (...conditions: Condition[]): SQL => or(...conditions) ?? sql`0`;

/** The columns of a table as `select()` takes them, each with its own type. */
type Aliased<T extends Table> = {
  [K in keyof T["$inferSelect"]]: SQL.Aliased<T["$inferSelect"][K]>;
};

/** The columns that `columnsOf` has returned, by prefix: they never change. */
const aliased = new WeakMap<Table, Map<string, object>>();

/**
 * The columns of `table` under prefixed names that are unique in the query.
 *
 * D1 returns the rows of a batch as objects, where columns of the same name overwrite one another:
 * every join that may run in a batch must select its columns through this function.
 */
export function columnsOf<T extends Table>(table: T, prefix: string): Aliased<T> {
  let byPrefix = aliased.get(table);
  if (!byPrefix) aliased.set(table, (byPrefix = new Map()));
  let columns = byPrefix.get(prefix);
  if (!columns) byPrefix.set(prefix, (columns = aliasColumns(table, prefix)));
  return columns as Aliased<T>;
}

function aliasColumns(table: Table, prefix: string): object {
  const columns = Object.entries(getTableColumns(table)).map(([key, column]) => [
    key,
    sql`${column}`.mapWith(column).as(`${prefix}_${key}`),
  ]);
  return Object.fromEntries(columns);
}

/**
 * Whether D1 refused a write because of a constraint.
 *
 * @param column The column in D1's message: `table.column`, or a part of it; for a unique index the
 * first column. For a foreign key D1 names none.
 */
export function isViolation(
  error: unknown,
  constraint: "UNIQUE" | "NOT NULL" | "CHECK" | "FOREIGN KEY",
  column = "",
): boolean {
  // Drizzle wraps D1's error, and D1 provides no error code, only this text.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (
    cause instanceof Error &&
    cause.message.includes(`${constraint} constraint failed`) &&
    cause.message.includes(column)
  );
}

/**
 * Quotes a text as one phrase of a full-text query. A NUL would end the query early, so it becomes
 * a space.
 */
export const quotePhrase = (text: string): string =>
  `"${text.replaceAll("\0", " ").replaceAll('"', '""')}"`;
