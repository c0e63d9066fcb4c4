import { getTableColumns, is, type SQL } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import {
  getTableConfig,
  SQLiteInteger,
  type SQLiteTable,
  SQLiteText,
} from "drizzle-orm/sqlite-core";

import { lazy } from "../../lib/lazy.ts";
import * as schema from "../schema/index.ts";

/** A table whose rows of a repository move with it. Names as in SQL. */
export interface MovedTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** Whether it gives its rows ids, which are of no other row of any database. The keys of other tables refer to such rows. */
  readonly givesIds: boolean;
  /** How its rows lead to the repository. */
  readonly path: RepositoryPath;
  /** Its columns that refer to the only column of the key of a moved table. */
  readonly references: readonly { readonly column: string; readonly to: string }[];
  readonly unique: readonly UniqueIndex[];
}

/** The repository of a row: the column with its id, or the row of another table that a column refers to. */
type RepositoryPath =
  | { readonly column: string; readonly through?: undefined }
  | { readonly column: string; readonly through: string; readonly throughKey: string };

/** A unique index besides the key. */
interface UniqueIndex {
  readonly columns: readonly string[];
  /** The rows that it has; undefined for all. */
  readonly where: SQL | undefined;
  /** One of the columns, which can give up its value until all rows have theirs. */
  readonly freed: { readonly column: string; readonly kind: "text" | "nullable" | "integer" };
}

/** Tables of every database that have rows of repositories. Those of the others stay where they were written. */
const OF_EACH: readonly SQLiteTable[] = [
  schema.events,
  schema.hooks,
  schema.webhookEvents,
  schema.hookDeliveries,
];

/** Not those of loose files, which are no repository's: an upload that ends while its repository moves finds no note, and is refused. */
const OWN: readonly SQLiteTable[] = [
  schema.milestones,
  schema.labels,
  schema.releases,
  schema.issues,
  schema.pulls,
  schema.reviews,
  schema.timelineEntries,
  schema.codeComments,
  schema.commentCounts,
  schema.contentVersions,
  schema.reactions,
  schema.attachments,
  schema.issueLabels,
  schema.issueAssignees,
  schema.issueMentions,
  schema.issueSubscriptions,
  schema.issueDependencies,
  schema.crossShardDependencies,
  schema.crossShardReferences,
  schema.crossShardEntries,
  schema.stopwatches,
  schema.trackedTimes,
  schema.scheduledMerges,
  schema.mergeQueues,
  schema.mergeQueueEntries,
  schema.branchProtections,
  schema.tagProtections,
  schema.branchTips,
  schema.commitStatuses,
  schema.repositoryInsights,
  schema.lfsObjects,
  schema.lfsLocks,
  schema.pullMirrors,
  schema.pushMirrors,
  schema.imports,
  schema.importAnswers,
  schema.foreignItems,
];

/** Tables whose column `repo_id` names another repository than that of the row: the one of which an entry tells. */
const TELLING: ReadonlySet<SQLiteTable> = new Set([schema.crossShardReferences]);

const nameOf = (table: SQLiteTable): string => getTableConfig(table).name;

const keyOf = (table: SQLiteTable): string[] => {
  const { primaryKeys, columns } = getTableConfig(table);
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  return key.map(({ name }) => toSnakeCase(name));
};

/**
 * Sorts tables so that each comes after those that it refers to, but for references of rows to later ones of the same table.
 *
 * @throws Error if a row of a table does not lead to a repository.
 */
function derive(tables: readonly SQLiteTable[]): MovedTable[] {
  const left = new Set(tables);
  const derived = new Map<string, MovedTable>();
  while (left.size > 0) {
    const before = left.size;
    for (const table of left) {
      const parents = foreignKeysOf(table).map(({ to }) => to);
      if (parents.some((parent) => parent !== table && left.has(parent))) continue;
      derived.set(nameOf(table), describe(table, new Set(tables), derived));
      left.delete(table);
    }
    if (left.size === before) throw new Error(`a cycle of ${[...left].map(nameOf).join(", ")}`);
  }
  return [...derived.values()];
}

const foreignKeysOf = (table: SQLiteTable) =>
  getTableConfig(table).foreignKeys.flatMap((key) => {
    const { columns, foreignTable } = key.reference();
    const [column] = columns;
    return column && columns.length === 1
      ? [{ column: toSnakeCase(column.name), to: foreignTable, isRequired: column.notNull }]
      : [];
  });

function describe(
  table: SQLiteTable,
  moved: ReadonlySet<SQLiteTable>,
  derived: ReadonlyMap<string, MovedTable>,
): MovedTable {
  const { indexes } = getTableConfig(table);
  const columns = Object.keys(getTableColumns(table)).map(toSnakeCase);
  const keys = foreignKeysOf(table).filter(({ to }) => moved.has(to));
  return {
    name: nameOf(table),
    key: keyOf(table),
    columns,
    givesIds: Object.values(getTableColumns(table)).some(
      (column) => is(column, SQLiteInteger) && column.autoIncrement,
    ),
    path: findPath(table, columns, keys, derived),
    references: keys.map(({ column, to }) => ({ column, to: nameOf(to) })),
    unique: indexes.flatMap(({ config }) =>
      config.unique ? toUnique(config.columns, config.where) : [],
    ),
  };
}

function findPath(
  table: SQLiteTable,
  columns: readonly string[],
  keys: readonly { column: string; to: SQLiteTable; isRequired: boolean }[],
  derived: ReadonlyMap<string, MovedTable>,
): RepositoryPath {
  if (columns.includes("repo_id") && !TELLING.has(table)) return { column: "repo_id" };
  const through = keys.find(({ to, isRequired }) => {
    const parent = isRequired && derived.get(nameOf(to));
    return parent && parent.path.through === undefined && isRepositoryRequired(to);
  });
  if (!through) throw new Error(`rows of ${nameOf(table)} do not lead to a repository`);
  const [throughKey = "id"] = keyOf(through.to);
  return { column: through.column, through: nameOf(through.to), throughKey };
}

const isRepositoryRequired = (table: SQLiteTable): boolean =>
  getTableConfig(table).columns.some(
    ({ name, notNull }) => toSnakeCase(name) === "repo_id" && notNull,
  );

/** Nothing for an index of expressions: values of these never change. */
function toUnique(columns: readonly unknown[], where: SQL | undefined): UniqueIndex[] {
  const free = columns.flatMap((column): UniqueIndex["freed"][] => {
    if (is(column, SQLiteText)) return [{ column: toSnakeCase(column.name), kind: "text" }];
    if (!is(column, SQLiteInteger)) return [];
    const name = toSnakeCase(column.name);
    return [{ column: name, kind: column.notNull ? "integer" : "nullable" }];
  });
  if (free.length < columns.length) return [];
  const order = ["text", "nullable", "integer"] as const;
  const freed = order
    .map((kind) => free.findLast((each) => each.kind === kind))
    .find((each) => each !== undefined);
  return freed ? [{ columns: free.map(({ column }) => column), where, freed }] : [];
}

/** All of them; each comes after those that it refers to. */
export const movedTables = lazy((): readonly MovedTable[] => derive([...OWN, ...OF_EACH]));

const tablesByName = lazy(() => new Map(movedTables().map((table) => [table.name, table])));

/** @throws Error if rows of the table do not move. */
export function movedTable(name: string): MovedTable {
  const table = tablesByName().get(name);
  if (!table) throw new Error(`rows of ${name} do not move`);
  return table;
}

/** Events stay in the source as well: consumers of its stream may not have read them. */
export const KEPT_TABLES: readonly string[] = ["events"];
