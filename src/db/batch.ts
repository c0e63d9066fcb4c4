import type { BatchItem, BatchResponse } from "drizzle-orm/batch";

import type { Database } from "./db.ts";

type Statement = BatchItem<"sqlite">;

/** Statements by name; a list of them stands under one name, and undefined is left out. */
export type Statements = Readonly<Record<string, Statement | readonly Statement[] | undefined>>;

/** The result of each statement under its name, or the list of results of a list. */
export type Results<T extends Statements> = { [Name in keyof T]: Result<T[Name]> };

type Result<S> = S extends Statement
  ? S["_"]["result"]
  : S extends readonly Statement[]
    ? BatchResponse<S>
    : undefined;

/**
 * Runs statements as one D1 batch, in the order of their names: all are applied, or none.
 *
 * @example
 * const { comment, found } = await batch(db, {
 *   comment: db.insert(comments).values(row).returning(),
 *   event: record(ctx, event),
 *   found: selectIssues(db).where(eq(issues.id, id)),
 * });
 */
export async function batch<const T extends Statements>(
  db: Database,
  statements: T,
): Promise<Results<T>> {
  const entries = Object.entries(statements).flatMap(([name, each]) =>
    each === undefined ? [] : [[name, each] as const],
  );
  const [first, ...others] = entries.flatMap(([, each]) => each);
  const results: unknown[] = first ? await db.batch([first, ...others]) : [];
  const byName = entries.map(([name, each]) => [
    name,
    Array.isArray(each) ? results.splice(0, each.length) : results.shift(),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- results have the statements' order.
  return Object.fromEntries(byName) as Results<T>;
}
