import { and, getTableColumns, or, sql, type SQL, type Table } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";

import type { D1 } from "./meter.ts";

/** D1 through Drizzle. Without the relational queries: lists say their joins themselves. */
export type Database = DrizzleD1Database;

export function openDatabase(d1: D1): Database {
  return drizzle(d1 as D1Database, { casing: "snake_case" });
}

/**
 * SQL as a column of a query from one table, where Drizzle drops the tables from the columns that
 * stand in it directly: a subquery with joins would then not know whose `name` is meant.
 */
export const qualified = <T>(query: SQL): SQL<T> => sql<T>`${query}`;

/** A condition as a column, since SQLite has no booleans of its own. */
export const flagColumn = (condition: SQL, name: string): SQL.Aliased<boolean> =>
  qualified<boolean>(condition)
    .mapWith((value: unknown) => value === 1)
    .as(name);

/**
 * A value that a row gets only while a condition holds at the time of writing. Else it is null,
 * which a column that allows none refuses, and with it the whole batch.
 */
export const onlyWhile = <T>(condition: SQL, value: T | SQL<T>): SQL<T> =>
  sql<T>`case when ${condition} then ${value} end`;

type Condition = SQL | undefined;

/** `and` that is there even where no condition is: then it holds. */
export const allOf = (...conditions: Condition[]): SQL => and(...conditions) ?? sql`1`;

/** `or` that is there even where no condition is: then it does not hold. */
export const anyOf = (...conditions: Condition[]): SQL => or(...conditions) ?? sql`0`;

/** The columns of a table as `select()` takes them, each with a type of its own. */
type Aliased<T extends Table> = {
  [K in keyof T["$inferSelect"]]: SQL.Aliased<T["$inferSelect"][K]>;
};

/**
 * The columns of `table` under names that no other table of the query has.
 *
 * D1 answers a batch in objects, where columns of the same name would overwrite one another:
 * every join that may run in a batch selects its columns through here.
 */
export function columnsOf<T extends Table>(table: T, prefix: string): Aliased<T> {
  const columns = Object.entries(getTableColumns(table)).map(([key, column]) => [
    key,
    sql`${column}`.mapWith(column).as(`${prefix}_${key}`),
  ]);
  return Object.fromEntries(columns) as Aliased<T>;
}

/**
 * Whether D1 refused a write because of a constraint.
 *
 * @param column What the message names: `table.column`, the first of a unique index.
 */
export function isViolation(
  error: unknown,
  constraint: "UNIQUE" | "NOT NULL" | "CHECK",
  column: string,
): boolean {
  // Drizzle wraps what D1 threw; D1 gives no code, only this text.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (
    cause instanceof Error &&
    cause.message.includes(`${constraint} constraint failed`) &&
    cause.message.includes(column)
  );
}

/** A text as a full-text query takes it: one phrase. A NUL would end the query in the middle of it. */
export const quotePhrase = (text: string): string =>
  `"${text.replaceAll("\0", " ").replaceAll('"', '""')}"`;
