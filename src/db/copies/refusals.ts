import { lazy } from "../../lib/lazy.ts";
import { copiedTables, type CopiedTable } from "./copied-tables.ts";

/**
 * Triggers of a shard that refuse to write copied tables, by name: the text that SQLite keeps. A batch that copies has set
 * `is_copying`; columns that the shard owns may be updated at any time.
 */
export const copyRefusals = lazy(
  (): ReadonlyMap<string, string> => new Map(copiedTables().flatMap(refusalsOf)),
);

function refusalsOf({ name: table, columns, refused, ownBy }: CopiedTable): [string, string][] {
  const ownsNone = !ownBy && columns.every((column) => refused.includes(column));
  const list = refused.map((column) => `"${column}"`).join(", ");
  const verbs = {
    insert: "INSERT",
    update: ownsNone ? "UPDATE" : `UPDATE OF ${list}`,
    delete: "DELETE",
  };
  return Object.entries(verbs).map(([verb, event]) => {
    const name = `${table}_copy_${verb}`;
    // A repository's own rows are written as any others.
    const isCopy = ownBy ? ` AND ${verb === "insert" ? "new" : "old"}."${ownBy}" IS NULL` : "";
    return [
      name,
      `CREATE TRIGGER "${name}" BEFORE ${event} ON "${table}" ` +
        `WHEN (SELECT is_copying FROM shard_copies) IS NOT 1${isCopy} ` +
        `BEGIN SELECT raise(ABORT, '${table} is a copy: the first database has the original'); END`,
    ];
  });
}
