import type { BatchItem, BatchResponse } from "drizzle-orm/batch";

import type { Database } from "./db.ts";

type Statements = readonly [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]];

/** Statements for one database. */
type Part<S extends Statements> = readonly [db: Database, statements: S];

/**
 * Sends statements to two databases at the same time; where both are the same one, as one batch.
 *
 * Only for reads, or where the one part may fail without the other.
 *
 * @returns The results of both.
 */
export async function batchBoth<const A extends Statements, const B extends Statements>(
  [first, ofFirst]: Part<A>,
  [second, ofSecond]: Part<B>,
): Promise<[BatchResponse<A>, BatchResponse<B>]> {
  if (first !== second) {
    return Promise.all([first.batch(ofFirst), second.batch(ofSecond)]);
  }
  const [head, ...rest] = ofFirst;
  const results: unknown[] = await first.batch([head, ...rest, ...ofSecond]);
  return [
    results.slice(0, ofFirst.length) as BatchResponse<A>,
    results.slice(ofFirst.length) as BatchResponse<B>,
  ];
}
