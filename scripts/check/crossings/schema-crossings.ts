import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";

import type { Side } from "./sides.ts";

/** The tables that a schema exports, by the names of their exports. */
export function tablesOf(schema: Record<string, unknown>): Map<string, SQLiteTable> {
  return new Map(
    Object.entries(schema).flatMap(([name, value]) =>
      is(value, SQLiteTable) ? [[name, value]] : [],
    ),
  );
}

/** The names of tables in SQL, by the names of their exports. */
export const namesOf = (tables: ReadonlyMap<string, SQLiteTable>): Map<string, string> =>
  new Map([...tables].map(([name, table]) => [name, getTableConfig(table).name]));

/** Foreign keys from one side to the other, as `issues.posterId -> users`. */
export function findForeignKeys(
  tables: Iterable<SQLiteTable>,
  sides: ReadonlyMap<string, Side>,
): string[] {
  return [...tables].flatMap((table) => {
    const { name, foreignKeys } = getTableConfig(table);
    return foreignKeys.flatMap((key) => {
      const { columns, foreignTable } = key.reference();
      const target = getTableConfig(foreignTable).name;
      if (!areApart([name, target], sides)) return [];
      return [`${name}.${columns.map((column) => column.name).join("+")} -> ${target}`];
    });
  });
}

function areApart(tables: string[], sides: ReadonlyMap<string, Side>): boolean {
  const found = new Set(tables.map((table) => sides.get(table)));
  return found.has("first") && found.has("own");
}

const TRIGGER =
  /\b(create|drop)\s+trigger\s+(?:if (?:not )?exists\s+)?[`"]?(\w+)[`"]?([^]*?)(?=--> statement-breakpoint|\bcreate\s+trigger\b|\bdrop\s+trigger\b|$)/gi;
const TABLE = /\b(?:on|from|join|into|update(?:\s+or\s+\w+)?)\s+[`"]?(\w+)/gi;

/**
 * The triggers that name tables of both sides, as `name: tables`.
 *
 * @param migrations The texts of all migrations, in their order.
 */
export function findTriggers(
  migrations: readonly string[],
  sides: ReadonlyMap<string, Side>,
): string[] {
  const triggers = new Map<string, string[]>();
  for (const [, verb = "", name = "", body = ""] of migrations
    .join("\n--> statement-breakpoint\n")
    .matchAll(TRIGGER)) {
    if (verb.toLowerCase() === "drop") triggers.delete(name);
    else triggers.set(name, tablesIn(body, sides));
  }
  return [...triggers].flatMap(([name, tables]) =>
    areApart(tables, sides) ? [`${name}: ${tables.join(" ")}`] : [],
  );
}

function tablesIn(body: string, sides: ReadonlyMap<string, Side>): string[] {
  const text = body.replaceAll(/^\s*--.*$/gm, "");
  const found = [...text.matchAll(TABLE)].map(([, table = ""]) => table.toLowerCase());
  return [...new Set(found.filter((table) => sides.has(table)))].toSorted();
}
