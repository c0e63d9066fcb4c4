import { eq, getTableColumns, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { beforeAll, describe, expect, it } from "vitest";

import { insertSelect } from "../../src/db/insert-select.ts";
import { db } from "../support/db.ts";

const notes = sqliteTable("insert_select_notes", {
  id: integer().primaryKey({ autoIncrement: true }),
  name: text().notNull(),
  tags: text({ mode: "json" }).$type<string[]>().notNull(),
  isDone: integer({ mode: "boolean" }).notNull().default(false),
  place: text().default("here"),
  createdAt: integer().notNull(),
});

beforeAll(async () => {
  await db.run(sql`
    create table ${notes} (
      id integer primary key autoincrement,
      created_at integer not null, name text not null unique, tags text not null,
      is_done integer not null, place text)`);
});

const rowOf = async (name: string) =>
  (await db.select().from(notes).where(eq(notes.name, name)))[0];

const NOW = sql`where true`;

describe("insertSelect", () => {
  // The table above has its columns in a different order than the schema.
  it("puts each value into the column of its name, in any order", async () => {
    const row = { createdAt: 7, place: "there", isDone: true, tags: ["a", "b"], name: "named" };
    await insertSelect(db, notes, row, NOW);
    expect(await rowOf("named")).toEqual({ ...row, id: expect.any(Number) });
  });

  it("uses the default for omitted columns", async () => {
    await insertSelect(db, notes, { name: "defaults", tags: [], createdAt: 1 }, NOW);
    expect(await rowOf("defaults")).toMatchObject({ isDone: false, place: "here" });
  });

  it("keeps an explicit null for a column with a default", async () => {
    await insertSelect(db, notes, { name: "null", tags: [], createdAt: 1, place: null }, NOW);
    expect(await rowOf("null")).toMatchObject({ place: null });
  });

  it("selects from tables by SQL and by columns", async () => {
    await insertSelect(db, notes, { name: "first", tags: ["kept"], createdAt: 1 }, NOW);
    const columns = { ...getTableColumns(notes), id: sql`null`, name: sql`${notes.name} || '!'` };
    const from = sql`from ${notes} where ${notes.name} = 'first'`;
    const created = await insertSelect(db, notes, columns, from).returning();
    expect(created).toMatchObject([{ name: "first!", tags: ["kept"], createdAt: 1 }]);
  });

  it("writes nothing if nothing is selected", async () => {
    const row = { name: "never", tags: [], createdAt: 1 };
    const created = await insertSelect(db, notes, row, sql`where false`).returning();
    expect(created).toEqual([]);
  });

  it("keeps or updates an existing row, according to the conflict clause", async () => {
    const row = { name: "twice", tags: [], createdAt: 1 };
    await insertSelect(db, notes, row, NOW);
    await insertSelect(db, notes, { ...row, createdAt: 2 }, NOW).onConflictDoNothing();
    expect(await rowOf("twice")).toMatchObject({ createdAt: 1 });
    const set = { createdAt: 3 };
    await insertSelect(db, notes, row, NOW).onConflictDoUpdate({ target: notes.name, set });
    expect(await rowOf("twice")).toMatchObject({ createdAt: 3 });
  });
});
