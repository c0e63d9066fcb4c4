import { eq, getTableColumns, getTableName, inArray, is } from "drizzle-orm";
import { type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

import * as schema from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

const { issues, repositories } = schema;

const TABLES = Object.values(schema).filter((each) => is(each, SQLiteTable));

/**
 * All rows of a repository and of its issues, by table: equal before and after what writes none.
 */
export async function rowsOfRepository(repoId: number): Promise<Record<string, unknown[]>> {
  const ofRepo = db.select({ id: issues.id }).from(issues).where(eq(issues.repoId, repoId));
  const reads = TABLES.flatMap((table) => {
    const columns: Readonly<Record<string, SQLiteColumn>> = getTableColumns(table);
    const { repoId: repo, issueId: issue, id } = columns;
    const name = getTableName(table);
    if (repo) return [{ name, rows: db.select().from(table).where(eq(repo, repoId)) }];
    if (issue) return [{ name, rows: db.select().from(table).where(inArray(issue, ofRepo)) }];
    if (id && name === getTableName(repositories)) {
      return [{ name, rows: db.select().from(table).where(eq(id, repoId)) }];
    }
    return [];
  });
  const found = await Promise.all(reads.map(async ({ name, rows }) => [name, await rows] as const));
  return Object.fromEntries(found);
}
