import { type SQL, sql } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";

import { ownedChanges, repositories } from "../schema/index.ts";
import { SHARD_OWNED } from "./copied-tables.ts";
import { sqlList, sqlName } from "./copy-sql.ts";

/** The columns of a repository's row that its shard owns, with its id and their version, by the names of columns. */
export type OwnedRow = Readonly<Record<string, string | number | null>> & {
  readonly id: number;
  readonly owned_version: number;
};

const COLUMNS = SHARD_OWNED.map(toSnakeCase);
const value = (column: string): SQL => sql`changed.value ->> ${sql.raw(`'${column}'`)}`;

/**
 * The trigger of a shard that notes a repository when a column changes that the shard owns, and raises their version. Not for
 * rows that another shard owns, whose late copies change.
 *
 * It asks before it inserts: within an upsert, SQLite takes `or ignore` in a trigger for an error.
 */
export const OWNED_CHANGES_TRIGGER = {
  name: "repositories_owned_changes",
  text: `CREATE TRIGGER repositories_owned_changes AFTER UPDATE OF ${COLUMNS.join(", ")} ON repositories
WHEN new.shard = (SELECT shard_id FROM shard_copies)
AND (${COLUMNS.map((column) => `new.${column} IS NOT old.${column}`).join(" OR ")}) BEGIN
	UPDATE repositories SET owned_version = max(owned_version + 1, unixepoch() * 1000) WHERE id = new.id;
	INSERT INTO owned_changes (repo_id) SELECT new.id
	WHERE NOT EXISTS (SELECT 1 FROM owned_changes WHERE repo_id = new.id);
END`,
} as const;

const SELECTED = ["id", "owned_version", ...COLUMNS].map((column) => sql`r.${sqlName(column)}`);

/** Selects the owned columns of a repository. */
export const selectOwned = (repoId: number): SQL => sql`
  select ${sqlList(SELECTED)} from ${repositories} r where r.id = ${repoId}`;

/** Selects the owned columns of repositories that are noted in a shard, by id. */
export const selectNoted = (after: number, limit: number): SQL => sql`
  select ${sqlList(SELECTED)}
  from ${ownedChanges}
  join ${repositories} r on r.id = ${ownedChanges.repoId}
  where ${ownedChanges.repoId} > ${after}
  order by ${ownedChanges.repoId}
  limit ${limit}`;

/** Removes the notes of rows that have not changed since they were selected. */
export const forgetNoted = (rows: readonly OwnedRow[]): SQL => sql`
  delete from ${ownedChanges}
  where ${ownedChanges.repoId} in (
    select r.id
    from json_each(${JSON.stringify(rows.map((row) => [row.id, row.owned_version]))}) noted
    join ${repositories} r on r.id = noted.value ->> 0 and r.owned_version = noted.value ->> 1
  )`;

/**
 * Writes owned columns into the first database, of rows whose values there are older. A row that has moved to another shard keeps
 * what that one wrote.
 */
export const writeOwned = (rows: readonly OwnedRow[], shardId: number): SQL => sql`
  update ${repositories} set
    owned_version = ${value("owned_version")},
    ${sql.join(
      COLUMNS.map((column) =>
        column === "updated_at"
          ? // It also changes here, and the later time wins.
            sql`updated_at = max(${repositories.updatedAt}, ${value(column)})`
          : sql`${sqlName(column)} = ${value(column)}`,
      ),
      sql`, `,
    )}
  from json_each(${JSON.stringify(rows)}) changed
  where ${repositories.id} = ${value("id")}
    and ${repositories.shard} = ${shardId}
    and ${repositories.ownedVersion} < ${value("owned_version")}`;
