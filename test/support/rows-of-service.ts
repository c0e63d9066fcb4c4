import { getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";

import * as schema from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

/** What a request may note of itself: that a session or a token was used. */
const NOTED = new Set<unknown>([schema.sessions, schema.accessTokens]);

const TABLES = Object.values(schema).flatMap((each): SQLiteTable[] =>
  is(each, SQLiteTable) && !NOTED.has(each) ? [each] : [],
);

/** All rows of the service, by table: equal before and after what writes none. */
export async function rowsOfService(): Promise<Record<string, unknown[]>> {
  const read = TABLES.map(
    async (table) => [getTableName(table), await db.select().from(table)] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}
