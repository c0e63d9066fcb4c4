import { type SQL, sql } from "drizzle-orm";

import { copiedTables, type CopiedTable } from "./copied-tables.ts";

/** Rows of copied tables by their keys, as the log has them: JSON texts. */
export type KeysByTable = ReadonlyMap<string, readonly string[]>;

/** A row of a copied table: values by the names of columns. */
export type CopiedRow = Readonly<Record<string, string | number | null>>;

export const sqlName = (identifier: string): SQL => sql.identifier(identifier).getSQL();
export const sqlList = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `);
export const columnOf = ({ name: table }: CopiedTable, column: string): SQL =>
  sql`${sqlName(table)}.${sqlName(column)}`;

/** Whether a row is one of those with these keys. */
export function hasKey(table: CopiedTable, keys: readonly string[]): SQL {
  const values = table.key.map((_, at) => sql`json_extract(value, ${sql.raw(`'$[${at}]'`)})`);
  const key = table.key.map((column) => columnOf(table, column));
  // Each element is the text of a key, so that it is the same as in the log.
  return sql`(${sqlList(key)}) in (
    select ${sqlList(values)} from json_each(${JSON.stringify(keys)})
  )`;
}

/** Whether a row of a table is one of those of which there are copies. */
export const isCopiedRow = (table: CopiedTable): SQL =>
  table.ownBy === undefined ? sql`1` : sql`${columnOf(table, table.ownBy)} is null`;

/** Whether the shard gets the row: all rows, or those about repositories that it has. */
export function isOfShard(copied: CopiedTable, shardId: number): SQL {
  const { repository } = copied;
  if (repository === undefined) return isCopiedRow(copied);
  return sql`exists (
    select 1 from shard_repositories
    where shard_id = ${shardId} and repo_id = ${columnOf(copied, repository)}
  )`;
}

/**
 * Whether a row is copied: it has one of these keys, or a row that is copied refers to it. So a shard never gets a row before what
 * it refers to, whatever follows in the log.
 */
function isCopied(table: CopiedTable, keys: KeysByTable, shardId: number): SQL {
  const reasons: SQL[] = [];
  const own = keys.get(table.name);
  if (own) reasons.push(hasKey(table, own));
  for (const child of copiedTables()) {
    for (const { column, to } of child.references) {
      if (to !== table.name || !isReached(child, keys)) continue;
      reasons.push(sql`${columnOf(table, "id")} in (
        select ${columnOf(child, column)} from ${sqlName(child.name)}
        where ${isCopied(child, keys, shardId)}
      )`);
    }
  }
  return sql`${isOfShard(table, shardId)} and (${sql.join(reasons, sql` or `)})`;
}

/** Whether any row of a table may be copied. */
const isReached = (table: CopiedTable, keys: KeysByTable): boolean =>
  keys.has(table.name) ||
  copiedTables().some(
    (child) => child.references.some(({ to }) => to === table.name) && isReached(child, keys),
  );

/** The tables of which rows are copied. */
export const reachedTables = (keys: KeysByTable): CopiedTable[] =>
  copiedTables().filter((table) => isReached(table, keys));

/** What a shard gets of a repository while an edit makes it private. */
const HIDDEN: Readonly<Record<string, SQL>> = {
  is_private: sql`1`,
  visibility: sql`'private'`,
};

/** What a shard gets of a column. */
export function copiedValue(table: CopiedTable, column: string, shardId: number): SQL {
  const value = columnOf(table, column);
  const hidden = table.name === "repositories" ? HIDDEN[column] : undefined;
  if (hidden) {
    return sql`iif(exists (
      select 1 from hidden_repositories where repo_id = ${columnOf(table, "id")}
    ), ${hidden}, ${value})`;
  }
  if (column !== "parent_id") return value;
  // A parent that the shard does not have is no parent there.
  return sql`case when exists (
    select 1 from shard_repositories where shard_id = ${shardId} and repo_id = ${value}
  ) then ${value} end`;
}

/** The rows that a shard gets of a table. */
export function selectCopied(table: CopiedTable, keys: KeysByTable, shardId: number): SQL {
  const columns = table.columns.map(
    (column) => sql`${copiedValue(table, column, shardId)} as ${sqlName(column)}`,
  );
  return sql`
    select ${sqlList(columns)} from ${sqlName(table.name)}
    where ${isCopied(table, keys, shardId)}`;
}

/** Those of these keys of a table that the log has again after a change. */
export const selectLaterKeys = (
  { name: table }: CopiedTable,
  keys: readonly string[],
  { shardId, changeId }: { shardId: number; changeId: number },
): SQL => sql`
  select value as ${sqlName("key")} from json_each(${JSON.stringify(keys)})
  where exists (
    select 1 from copied_changes
    where table_name = ${table} and copied_changes.key = value
      and id > ${changeId} and shard_id in (0, ${shardId})
  )`;

/** Enters rows into the log for a shard. */
export const insertChanges = (
  { name: table }: CopiedTable,
  keys: readonly string[],
  shardId: number,
): SQL => sql`
  insert into copied_changes (table_name, "key", shard_id)
  select ${table}, value, ${shardId} from json_each(${JSON.stringify(keys)})`;

/** Enters the repositories of a select of ids into the log, for each shard that has a copy. */
export const insertRepositoryChanges = (repoIds: SQL): SQL => sql`
  insert into copied_changes (table_name, "key", shard_id)
  select 'repositories', json_array(repo_id), shard_id from shard_repositories
  where repo_id in (${repoIds})`;

/** The last of `hidden_repositories` so far; 0 for none. */
export const selectHiddenId = (): SQL => sql`
  select coalesce(max(seq), 0) as id from sqlite_sequence where name = 'hidden_repositories'`;

/** Deletes rows of a copy. */
export const deleteCopied = (table: CopiedTable, keys: readonly string[]): SQL =>
  sql`delete from ${sqlName(table.name)} where ${hasKey(table, keys)} and ${isCopiedRow(table)}`;

/**
 * Takes the unique values of rows from whoever has them in the copy: from the rows themselves, since they may exchange them, and from others,
 * whose own change comes later in the log.
 */
export function freeUnique(table: CopiedTable, rows: readonly CopiedRow[]): SQL | undefined {
  if (!table.unique) return undefined;
  const { column, within } = table.unique;
  const value = (from: string) => sql`json_extract(value, ${sql.raw(`'$.${from}'`)})`;
  const isSame = [column, ...within].map((each) => sql`${columnOf(table, each)} = ${value(each)}`);
  const holders = (condition: SQL) => sql`
    select ${columnOf(table, "id")} from json_each(${JSON.stringify(rows)})
    join ${sqlName(table.name)} on ${condition}`;
  // No name has a space.
  return sql`
    update ${sqlName(table.name)} set ${sqlName(column)} = ' ' || id
    where id in (
      ${holders(sql`${columnOf(table, "id")} = ${value("id")}`)}
      where ${columnOf(table, column)} <> ${value(column)}
      union
      ${holders(sql.join(isSame, sql` and `))}
      where ${columnOf(table, "id")} <> ${value("id")}
    )`;
}

/** Inserts rows into the copy of a shard, or overwrites the columns that are copied and that the shard does not own. */
export function upsertCopied(table: CopiedTable, rows: readonly CopiedRow[], shardId: number): SQL {
  const columns = table.columns.map(sqlName);
  const values = table.columns.map(
    (column) => sql`json_extract(value, ${sql.raw(`'$.${column}'`)})`,
  );
  const changes = table.columns.map(
    (column) => sql`${sqlName(column)} = ${updatedValue(table, column, shardId)}`,
  );
  const editedAt = columnOf(table, "updated_at");
  for (const column of table.resetByEdit) {
    const first = column.endsWith("_count") ? sql`0` : sql`null`;
    const present = columnOf(table, column);
    changes.push(
      sql`${sqlName(column)} = iif(${editedAt} = excluded.updated_at, ${present}, ${first})`,
    );
  }
  return sql`
    insert into ${sqlName(table.name)} (${sqlList(columns)})
    select ${sqlList(values)} from json_each(${JSON.stringify(rows)})
    where true
    on conflict (${sqlList(table.key.map(sqlName))}) do update set ${sqlList(changes)}`;
}

/** The new value of a column of a row that the copy has. */
function updatedValue(table: CopiedTable, column: string, shardId: number): SQL {
  const [present, copied] = [columnOf(table, column), sql`excluded.${sqlName(column)}`];
  if (!table.owned.includes(column)) return copied;
  // During a move one of them names the other shard, and the move writes what is owned.
  const isOwner = sql`${shardId} in (${columnOf(table, "shard")}, excluded.shard)`;
  // The later time, of a change here or there.
  const kept = column === "updated_at" ? sql`max(${present}, ${copied})` : present;
  return sql`iif(${isOwner}, ${kept}, ${copied})`;
}
