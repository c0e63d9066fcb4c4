import type { D1 } from "./meter.ts";

/** A database, and whether a statement that writes was prepared on it so far. */
export interface WatchedWrites {
  readonly d1: D1;
  hasWritten(): boolean;
}

const WRITES = /^\s*(?:insert|update|delete|replace|with\b[^]*\b(?:insert|update|delete))\b/i;

/** Wraps a database to know whether it is written. */
export function watchWrites(d1: D1): WatchedWrites {
  let hasWritten = false;
  return {
    hasWritten: () => hasWritten,
    d1: {
      prepare(query) {
        hasWritten ||= WRITES.test(query);
        return d1.prepare(query);
      },
      batch: (statements) => d1.batch(statements),
    },
  };
}
