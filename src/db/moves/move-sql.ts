import { type SQL, sql } from "drizzle-orm";

import { sqlList, sqlName } from "../copies/copy-sql.ts";
import type { CopyKey } from "../schema/index.ts";
import { compareKey } from "../copies/compare-sql.ts";
import type { MovedTable } from "./moved-tables.ts";

/** Values by the names of columns. */
export type MovedRow = Readonly<Record<string, string | number | null>>;

const columnOf = ({ name }: MovedTable, column: string): SQL =>
  sql`${sqlName(name)}.${sqlName(column)}`;
const keyColumns = (table: MovedTable): SQL[] => table.key.map((column) => columnOf(table, column));

/** The text of a row's key, as the log has it. */
export const keyText = (table: MovedTable, row: MovedRow): string =>
  JSON.stringify(table.key.map((column) => row[column]));

/** The repositories of a move. */
export const reposOf = (moveId: number): SQL =>
  sql`(select repo_id from moving_repositories where move_id = ${moveId})`;

/** The repositories of a list. */
export const listed = (repoIds: readonly number[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(repoIds)}))`;

/** Whether a row is one of these repositories'. */
export function isOfRepositories(table: MovedTable, repos: SQL): SQL {
  const { path } = table;
  const column = columnOf(table, path.column);
  if (path.through === undefined) return sql`${column} in ${repos}`;
  return sql`${column} in (
    select ${sqlName(path.throughKey)} from ${sqlName(path.through)} where repo_id in ${repos}
  )`;
}

function hasKey(table: MovedTable, keys: readonly string[]): SQL {
  const values = table.key.map((_, at) => sql`json_extract(value, ${sql.raw(`'$[${at}]'`)})`);
  return sql`(${sqlList(keyColumns(table))}) in (
    select ${sqlList(values)} from json_each(${JSON.stringify(keys)})
  )`;
}

/** Selects rows of a move by their keys. */
export const selectMoved = (table: MovedTable, keys: readonly string[], repos: SQL): SQL => sql`
  select ${sqlList(table.columns.map((column) => columnOf(table, column)))}
  from ${sqlName(table.name)}
  where ${hasKey(table, keys)} and ${isOfRepositories(table, repos)}`;

/** Those of these keys that the log has after an entry. */
export const selectLater = (
  { name: table }: MovedTable,
  keys: readonly string[],
  { moveId, after }: { readonly moveId: number; readonly after: number },
): SQL => sql`
  select value as ${sqlName("key")} from json_each(${JSON.stringify(keys)})
  where exists (
    select 1 from move_changes
    where move_id = ${moveId} and table_name = ${table}
      and move_changes.key = value and id > ${after}
  )`;

/** Enters the next rows of repositories into the log, and returns their keys in order. */
export function enterRows(
  table: MovedTable,
  { moveId, repoIds, after }: { moveId: number; repoIds: readonly number[]; after: CopyKey | null },
  limit: number,
): SQL {
  const key = keyColumns(table);
  return sql`
    insert into move_changes (move_id, table_name, "key")
    select ${moveId}, ${table.name}, json_array(${sqlList(key)})
    from ${sqlName(table.name)}
    where ${compareKey(key, ">", after)} and ${isOfRepositories(table, listed(repoIds))}
    order by ${sqlList(key)}
    limit ${limit}
    returning "key"`;
}

/** Counts rows. */
export const countMoved = (table: MovedTable, repos: SQL): SQL => sql`
  select count(*) as count from ${sqlName(table.name)} where ${isOfRepositories(table, repos)}`;

export const deleteMoved = (table: MovedTable, keys: readonly string[]): SQL =>
  sql`delete from ${sqlName(table.name)} where ${hasKey(table, keys)}`;

/** Selects keys of rows that are still there. */
export const selectSome = (table: MovedTable, where: SQL, limit: number): SQL => sql`
  select json_array(${sqlList(keyColumns(table))}) as ${sqlName("key")}
  from ${sqlName(table.name)}
  where ${where}
  limit ${limit}`;

/**
 * Takes the unique values of rows that are about to be written from whichever rows have them: they may have been exchanged. Who
 * loses one is written as well, here or by a later entry of the log.
 */
export function freeUniqueValues(table: MovedTable, rows: readonly MovedRow[]): SQL[] {
  const [first = "id"] = table.key;
  const name = columnOf(table, first);
  const values = { text: sql`' ' || ${name}`, nullable: sql`null`, integer: sql`-${name}` };
  const valueOf = (column: string) => sql`json_extract(value, ${sql.raw(`'$.${column}'`)})`;
  const all = sql`json_each(${JSON.stringify(rows)})`;
  return table.unique.map(({ columns, where, freed }) => {
    const isSame = columns.map((column) => sql`${columnOf(table, column)} = ${valueOf(column)}`);
    const key = table.key.map((column) => sql`${columnOf(table, column)} = ${valueOf(column)}`);
    return sql`
      update ${sqlName(table.name)} set ${sqlName(freed.column)} = ${values[freed.kind]}
      where ${where ?? sql`1`} and exists (
        select 1 from ${all}
        where (${sql.join(isSame, sql` and `)}) or (${sql.join(key, sql` and `)})
      )`;
  });
}

/**
 * Whether rows that are about to be written have no id that a sequence has not reached: SQLite would let it follow them, into a range of
 * another database.
 */
export function areBelowSequences(rows: ReadonlyMap<MovedTable, readonly MovedRow[]>): SQL {
  const last = [...rows].flatMap(([{ name, givesIds }, some]) => {
    const id = some.reduce((greatest, row) => Math.max(greatest, Number(row["id"])), 0);
    return givesIds && some.length > 0 ? [{ name, id }] : [];
  });
  return sql`(not exists (
    select 1 from json_each(${JSON.stringify(last)})
    where not exists (
      select 1 from sqlite_sequence where name = value ->> 'name' and seq >= value ->> 'id'
    )
  ))`;
}

/** Inserts rows, or overwrites them. */
export function upsertMoved(table: MovedTable, rows: readonly MovedRow[]): SQL {
  const values = table.columns.map(
    (column) => sql`json_extract(value, ${sql.raw(`'$.${column}'`)})`,
  );
  const changes = table.columns
    .filter((column) => !table.key.includes(column))
    .map((column) => sql`${sqlName(column)} = excluded.${sqlName(column)}`);
  return sql`
    insert into ${sqlName(table.name)} (${sqlList(table.columns.map(sqlName))})
    select ${sqlList(values)} from json_each(${JSON.stringify(rows)})
    where true
    on conflict (${sqlList(table.key.map(sqlName))}) do update set ${sqlList(changes)}`;
}
