import { toSnakeCase } from "drizzle-orm/casing";

import { lazy } from "../../lib/lazy.ts";
import { SHARD_OWNED } from "../copies/copied-tables.ts";
import { MOVING } from "./is-moving.ts";
import { movedTables, type MovedTable } from "./moved-tables.ts";

/** The trigger on a copied table, which a shard keeps while something moves. */
export const OWNED_MOVES_TRIGGER = "repositories_moves_update";

type Verb = "insert" | "update" | "delete";

const isOutside = "NOT EXISTS (SELECT 1 FROM move_batches)";
const isClosed = (repoId: string): string =>
  `EXISTS (SELECT 1 FROM moving_repositories m JOIN move_sides s ON s.move_id = m.move_id ` +
  `JOIN repositories r ON r.id = m.repo_id WHERE m.repo_id = ${repoId} AND s.is_closed) ` +
  `AND (SELECT is_copying FROM shard_copies) IS NOT 1`;
const refuse = (condition: string): string =>
  `SELECT raise(ABORT, '${MOVING}') WHERE ${condition};`;

const repositoryOf = ({ path }: MovedTable, row: "new" | "old"): string =>
  path.through === undefined
    ? `${row}."${path.column}"`
    : `(SELECT repo_id FROM "${path.through}" WHERE "${path.throughKey}" = ${row}."${path.column}")`;

function triggerOf(table: MovedTable, verb: Verb): string {
  const { name, key, path, references } = table;
  const row = verb === "delete" ? "old" : "new";
  const repoId = repositoryOf(table, row);
  // What refers to an issue from elsewhere would not move with it.
  const others =
    verb === "delete"
      ? []
      : references
          .filter(({ column, to }) => to === "issues" && column !== path.column)
          .map(({ column }) => `(SELECT repo_id FROM issues WHERE id = new."${column}")`);
  const concerned = [repoId, ...others];
  const keyOf = (of: "new" | "old") => `json_array(${key.map((c) => `${of}."${c}"`).join(", ")})`;
  const note = (of: "new" | "old", condition = "") =>
    `INSERT INTO move_changes (move_id, table_name, key) ` +
    `SELECT m.move_id, '${name}', ${keyOf(of)} FROM moving_repositories m ` +
    `JOIN move_sides s ON s.move_id = m.move_id ` +
    `WHERE m.repo_id = ${repositoryOf(table, of)} AND s.is_source${condition};`;
  const isChanged = key.map((c) => `old."${c}" IS NOT new."${c}"`).join(" OR ");
  // Old events are removed from where they were moved from as well.
  const refusals =
    verb === "delete" && name === "events" ? [] : concerned.map((id) => refuse(isClosed(id)));
  return [
    `CREATE TRIGGER "${name}_moves_${verb}" AFTER ${verb.toUpperCase()} ON "${name}"`,
    `WHEN ${isOutside} AND EXISTS (SELECT 1 FROM moving_repositories WHERE repo_id IN (${concerned.join(", ")}))`,
    `BEGIN`,
    ...refusals,
    note(row),
    ...(verb === "update" ? [note("old", ` AND (${isChanged})`)] : []),
    `END`,
  ].join(" ");
}

/** Refuses to write what a shard owns in the row of a repository. Copies raise its version, and the time also changes without it. */
function ownedTrigger(): string {
  const columns = SHARD_OWNED.filter((column) => column !== "updatedAt").map(toSnakeCase);
  const isChanged = columns.map((c) => `new."${c}" IS NOT old."${c}"`).join(" OR ");
  return [
    `CREATE TRIGGER "${OWNED_MOVES_TRIGGER}" AFTER UPDATE OF ${columns.map((c) => `"${c}"`).join(", ")} ON repositories`,
    `WHEN ${isOutside} AND new.owned_version = old.owned_version AND (${isChanged})`,
    `AND EXISTS (SELECT 1 FROM moving_repositories WHERE repo_id = new.id)`,
    `BEGIN`,
    refuse(isClosed("new.id")),
    `END`,
  ].join(" ");
}

/**
 * Triggers that databases have while something moves from them or to them, by name. They enter each change of a moving repository's
 * rows into the log, and refuse it where the move has closed the repository, so that no write is lost: a batch comes before the
 * closing, and is copied, or after it, and fails.
 *
 * Refused is nothing that a move does itself; nothing that follows from copies of the first database, which follows in the other
 * database as well; and nothing of a repository that is deleted.
 */
export const moveTriggers = lazy(
  (): ReadonlyMap<string, string> =>
    new Map([
      ...movedTables().flatMap((table) =>
        (["insert", "update", "delete"] as const).map((verb): [string, string] => [
          `${table.name}_moves_${verb}`,
          triggerOf(table, verb),
        ]),
      ),
      [OWNED_MOVES_TRIGGER, ownedTrigger()],
    ]),
);
