import { sql } from "drizzle-orm";

import type { Database } from "../../src/db/db.ts";

/** Empties tables of the databases of a service with shards, in this order; `shard_copies` is one of them. */
export async function emptyTables(
  databases: readonly Database[],
  tables: readonly string[],
): Promise<void> {
  // A copy is written while one is made only.
  const statements = [
    sql`delete from shard_copies`,
    sql`insert into shard_copies (shard_id, change_id, is_copying) values (1, 0, 1)`,
    ...tables.map((table) => sql`delete from ${sql.identifier(table)}`),
  ];
  for (const db of databases) {
    await db.batch(statements.map((statement) => db.textStatement(statement)) as never);
  }
}
