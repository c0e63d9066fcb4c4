import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";

import { type Tables, writtenInSql } from "./find-crossings.ts";
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

/**
 * Foreign keys from one side to the other, as `issues.posterId -> users`: a copy in a shard satisfies keys to it, and is itself
 * bound to copies alone.
 */
export function findForeignKeys(
  tables: Iterable<SQLiteTable>,
  sides: ReadonlyMap<string, Side>,
): string[] {
  return [...tables].flatMap((table) => {
    const { name, foreignKeys } = getTableConfig(table);
    return foreignKeys.flatMap((key) => {
      const { columns, foreignTable } = key.reference();
      const target = getTableConfig(foreignTable).name;
      const [from, to] = [sides.get(name), sides.get(target)];
      const holds = from === to || from === "each" || to === "each" || to === "copied";
      if (holds) return [];
      return [`${name}.${columns.map((column) => column.name).join("+")} -> ${target}`];
    });
  });
}

const TRIGGER =
  /\b(create|drop)\s+trigger\s+(?:if (?:not )?exists\s+)?[`"]?(\w+)[`"]?([^]*?)(?=--> statement-breakpoint|\bcreate\s+trigger\b|\bdrop\s+trigger\b|$)/gi;
/** Triggers that log changes of copied rows. A shard has none of them: its set-up drops them. */
const OF_LOG = /_copied_(?:insert|update|delete)$/;
const TABLE = /\b(?:on|from|join|into|update(?:\s+or\s+\w+)?)\s+[`"]?(\w+)/gi;

/**
 * The triggers that name tables of both sides, as `name: tables`. One of a copied table also fires where the copy is, so of
 * those only what it writes counts, but for columns that belong to the shard.
 *
 * @param migrations The texts of all migrations, in their order.
 */
export function findTriggers(
  migrations: readonly string[],
  { sides, owned }: Pick<Tables, "sides" | "owned">,
): string[] {
  const triggers = new Map<string, { all: string[]; written: string[] }>();
  for (const [, verb = "", name = "", body = ""] of migrations
    .join("\n--> statement-breakpoint\n")
    .matchAll(TRIGGER)) {
    if (verb.toLowerCase() === "drop") triggers.delete(name);
    else {
      // What the trigger is about stands before its body: `after update of name on users`.
      const [, head = "", steps = ""] = /^([^]*?)\bbegin\b([^]*)$/i.exec(body) ?? [];
      const all = tablesIn(`${head} ${steps}`, sides);
      triggers.set(name, {
        all,
        written: [...writtenInSql(withoutComments(steps), { sides, owned })],
      });
    }
  }
  return [...triggers].flatMap(([name, { all, written }]) => {
    const first = [
      ...all.filter((table) => sides.get(table) === "first"),
      ...written.filter((table) => sides.get(table) === "copied"),
    ];
    const isApart = first.length > 0 && all.some((table) => sides.get(table) === "own");
    return isApart && !OF_LOG.test(name) ? [`${name}: ${all.join(" ")}`] : [];
  });
}

function tablesIn(body: string, sides: ReadonlyMap<string, Side>): string[] {
  const found = [...withoutComments(body).matchAll(TABLE)].map(([, table = ""]) =>
    table.toLowerCase(),
  );
  return [...new Set(found.filter((table) => sides.has(table)))].toSorted();
}

const withoutComments = (text: string): string => text.replaceAll(/^\s*--.*$/gm, "");
