import * as drizzle from "drizzle-orm";
import { is as original } from "drizzle-orm/entity";
import * as core from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";

import { entityKind, hasOwnEntityKind, is } from "../../src/db/drizzle-entity.ts";
import * as schema from "../../src/db/schema/index.ts";

type Class = Parameters<typeof original>[1];

const { aliasedTable, aliasedTableColumn, count, eq, getTableColumns, sql } = drizzle;

/** The exports of these modules that `is` may be called with. */
const classes = [...Object.entries(drizzle), ...Object.entries(core)].filter(
  (named): named is [string, Class] =>
    typeof named[1] === "function" && Object.hasOwn(named[1], entityKind),
);

const tables = Object.entries<unknown>(schema).filter(
  (named): named is [string, core.SQLiteTable] => original(named[1], core.SQLiteTable),
);

const builder = new core.QueryBuilder();
const { users } = schema;
const subquery = builder
  .select({ id: users.id, n: count().as("n") })
  .from(users)
  .as("subquery");
const common = builder.$with("common").as(builder.select({ id: users.id }).from(users));
const view = core.sqliteView("a_view").as((query) => query.select({ id: users.id }).from(users));

class Derived extends drizzle.SQL {}
class Unrelated {
  readonly kind = "unrelated";
}

/** Values by name: those that Drizzle passes to `is`, and unexpected ones. */
const values: [string, unknown][] = [
  ...tables.flatMap(([name, table]): [string, unknown][] => {
    const alias = aliasedTable(table, `${name}_alias`);
    const columns = Object.entries(getTableColumns(table));
    return [
      [name, table],
      [`alias of ${name}`, alias],
      ...columns.flatMap(([key, column]): [string, unknown][] => [
        [`${name}.${key}`, column],
        [`alias of ${name}.${key}`, Reflect.get(alias, key)],
        [`aliased column ${name}.${key}`, aliasedTableColumn(column, "other")],
        [`mapping of ${name}.${key}`, sql`${column}`.mapWith(column)],
      ]),
    ];
  }),
  ["sql", sql`1`],
  ["condition", eq(users.id, 1)],
  ["named fragment", sql`1`.as("one")],
  ["raw", sql.raw("1")],
  ["placeholder", sql.placeholder("id")],
  ["parameter", sql.param(1)],
  ["identifier", sql.identifier("users")],
  ["empty", sql.empty()],
  ["subquery", subquery],
  ["column of a subquery", subquery.id],
  ["fragment of a subquery", subquery.n],
  ["common table expression", common],
  ["column of a common table expression", common.id],
  ["view", view],
  ["column of a view", view.id],
  ["query", builder.select().from(users)],
  ["column builder", core.integer("id")],
  ["instance of a derived class", new Derived([])],
  ["instance of an unrelated class", new Unrelated()],
  ["object that claims a class", { constructor: drizzle.SQL }],
  ["object whose prototype claims a class", Object.create({ constructor: drizzle.SQL })],
  ["object whose prototype has no constructor", Object.create({ constructor: undefined })],
  ["plain object", {}],
  ["list", []],
  ["bytes", new Uint8Array(1)],
  ["date", new Date(0)],
  ["class", drizzle.SQL],
  ...[null, undefined, 0, 1, "", "text", true, false, 1n, Symbol("s")].map(
    (value): [string, unknown] => [String(value), value],
  ),
];

/** The result of a call, or the error that it throws. */
function outcomeOf(ask: typeof original, value: unknown, type: Class): unknown {
  try {
    return ask(value, type);
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : error;
  }
}

describe("the module that replaces Drizzle's entity.js", () => {
  it("is the one that Drizzle itself uses", () => {
    expect(drizzle.is).toBe(is);
    expect(drizzle.entityKind).toBe(entityKind);
    expect(drizzle.hasOwnEntityKind).toBe(hasOwnEntityKind);
  });

  it("compares many values with many classes", () => {
    expect(tables.length).toBeGreaterThan(20);
    expect(classes.map(([name]) => name)).toEqual(
      expect.arrayContaining(["Column", "SQL", "Table", "Subquery", "SQLiteColumn", "SQLiteTable"]),
    );
  });

  // Twice: the first result is computed, the second is cached.
  it.each(classes)("returns the same as the original for %s", (_name, type) => {
    for (const round of ["first", "again"]) {
      const expected = values.map(([name, value]) => [name, outcomeOf(original, value, type)]);
      const answers = values.map(([name, value]) => [name, outcomeOf(is, value, type)]);
      expect(answers, round).toEqual(expected);
    }
  });

  it("throws like the original for a class that is not Drizzle's, each time", () => {
    const type = Unrelated as unknown as Class;
    for (const round of ["first", "again"]) {
      const expected = values.map(([name, value]) => [name, outcomeOf(original, value, type)]);
      expect(
        values.map(([name, value]) => [name, outcomeOf(is, value, type)]),
        round,
      ).toEqual(expected);
    }
    expect(() => is({}, type)).toThrow(`Class "Unrelated" doesn't look like a Drizzle entity`);
    expect(() => is(sql`1`, type)).toThrow(`Class "Unrelated" doesn't look like a Drizzle entity`);
    expect(is(new Unrelated(), type)).toBe(true);
  });

  it("throws the original's error for an object without a prototype", () => {
    const bare: unknown = Object.create(null);
    expect(outcomeOf(is, bare, drizzle.SQL)).toBe(outcomeOf(original, bare, drizzle.SQL));
    expect(outcomeOf(is, bare, drizzle.SQL)).toMatch(/^TypeError: /);
  });
});
