import { eq, getTableColumns, getTableName, inArray, is } from "drizzle-orm";
import { type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

import * as schema from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

const { teams, users } = schema;

const TABLES = Object.values(schema).filter((each) => is(each, SQLiteTable));

/** All rows that name an organization or a team of it, by table: see `rowsOfRepository`. */
export async function rowsOfOrganization(orgId: number): Promise<Record<string, unknown[]>> {
  const ofOrg = db.select({ id: teams.id }).from(teams).where(eq(teams.orgId, orgId));
  const reads = TABLES.flatMap((table) => {
    const columns: Readonly<Record<string, SQLiteColumn>> = getTableColumns(table);
    const { ownerId, orgId: org, teamId, blockerId, id } = columns;
    const name = getTableName(table);
    const owned = org ?? ownerId ?? blockerId;
    if (owned) return [{ name, rows: db.select().from(table).where(eq(owned, orgId)) }];
    if (teamId) return [{ name, rows: db.select().from(table).where(inArray(teamId, ofOrg)) }];
    return id && name === getTableName(users)
      ? [{ name, rows: db.select().from(table).where(eq(id, orgId)) }]
      : [];
  });
  const found = await Promise.all(reads.map(async ({ name, rows }) => [name, await rows] as const));
  return Object.fromEntries(found);
}
