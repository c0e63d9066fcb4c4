import { and, between, eq, lte, type SQL, sql } from "drizzle-orm";

import { type Database, isViolation, onlyWhile } from "../../db/db.ts";
import { copiedTables, type CopiedTable } from "../../db/copies/copied-tables.ts";
import {
  type CopiedRow,
  deleteCopied,
  freeUnique,
  type KeysByTable,
  reachedTables,
  selectCopied,
  selectHiddenId,
  selectLaterKeys,
  upsertCopied,
} from "../../db/copies/copy-sql.ts";
import { copiedChanges, shardCopies } from "../../db/schema/index.ts";

/** Entries of the log that are copied at once. */
const CHANGES_AT_ONCE = 100;
/**
 * The same after a failure. A row that the log has again stays until that entry, and may refer to one that is gone already: both must come
 * together then.
 */
const CHANGES_AFTER_FAILURE = 1000;

/**
 * Copies the next entries of the log to a shard: the rows as they are now, and what they refer to. Safe to repeat and to run
 * concurrently: of two runs, one stores.
 *
 * Cost: two round trips of each database.
 *
 * @param directory The first database, from its primary.
 * @param shard The shard's database.
 * @param atOnce Entries that are copied.
 * @returns Whether no others were there.
 */
export async function copyChanges(
  directory: Database,
  shard: Database,
  atOnce = CHANGES_AT_ONCE,
): Promise<boolean> {
  const [state] = await shard.select().from(shardCopies).limit(1);
  if (!state) throw new Error("the database is not set up as a shard");
  const { shardId, changeId: before } = state;
  const changes = await selectChanges(directory, { shardId, after: before, atOnce });
  if (changes.length === 0) return true;
  try {
    const isStored = await storeChanges(directory, shard, {
      shardId,
      changes,
      isCurrent: eq(shardCopies.changeId, before),
    });
    return isStored && changes.length < atOnce;
  } catch (error) {
    if (atOnce === CHANGES_AFTER_FAILURE || changes.length < atOnce) throw error;
    return copyChanges(directory, shard, CHANGES_AFTER_FAILURE);
  }
}

/** What the first database knows of a shard that lacks something. */
export interface KnownChanges {
  readonly shardId: number;
  /** An entry that the shard has, with all before it. */
  readonly copied: number;
  /** The last entry for this shard up to that one; 0 if the log has none. */
  readonly lastCopied: number;
  /** All entries after it, oldest first. */
  readonly changes: readonly LoggedChange[];
}

/**
 * The same for entries that are read already. The shard is not asked how far it is: it refuses the rows if another run has copied
 * anything since, or if it lacks earlier entries.
 *
 * Cost: one round trip of each database.
 *
 * @returns Whether the shard has them; otherwise `copyChanges` finds out what it lacks.
 */
export const copyKnownChanges = (
  directory: Database,
  shard: Database,
  { shardId, copied, lastCopied, changes }: KnownChanges,
): Promise<boolean> =>
  storeChanges(directory, shard, {
    shardId,
    changes,
    isCurrent: between(shardCopies.changeId, lastCopied, copied),
  });

/**
 * Copies the rows of entries to a shard, up to the last of them.
 *
 * @param given.isCurrent Whether the shard has all entries before these, and none of these. What makes it true is read before the
 * rows, so that no run stores rows that are older than those of another one.
 * @returns Whether they are stored: no if another run has copied these, or some of them, or if a repository was hidden meanwhile.
 */
async function storeChanges(
  directory: Database,
  shard: Database,
  {
    shardId,
    changes,
    isCurrent,
  }: { shardId: number; changes: readonly LoggedChange[]; isCurrent: SQL },
): Promise<boolean> {
  const changeId = changes.at(-1)?.id;
  if (changeId === undefined) return true;
  const keys: KeysByTable = new Map(
    [...Map.groupBy(changes, ({ tableName }) => tableName)].map(([table, entries]) => [
      table,
      [...new Set(entries.map(({ key }) => key))],
    ]),
  );
  const { rows, later, hiddenId } = await readRows(directory, keys, { shardId, changeId });
  // SECURITY: a repository that was hidden in the shard since these rows were read may be public in them.
  const isAllowed = sql`(${and(isCurrent, lte(shardCopies.hiddenId, hiddenId))})`;
  const tables = copiedTables().filter(({ name }) => rows.has(name));
  const statements = [
    ...tables.toReversed().flatMap((table) => {
      const gone = goneKeys(table, keys, rows, later);
      return gone.length > 0 ? [deleteCopied(table, gone)] : [];
    }),
    ...tables.flatMap((table) => {
      const present = rows.get(table.name) ?? [];
      if (present.length === 0) return [];
      const [free, upsert] = [freeUnique(table, present), upsertCopied(table, present, shardId)];
      return free ? [free, upsert] : [upsert];
    }),
  ];
  try {
    await shard.batch([
      shard.update(shardCopies).set({ changeId: onlyWhile(isAllowed, changeId), isCopying: true }),
      // Rows may refer to one another in any order.
      shard.textStatement(sql`pragma defer_foreign_keys = on`),
      ...statements.map((statement) => shard.textStatement(statement)),
      shard.update(shardCopies).set({ isCopying: false }),
    ]);
    return true;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "shard_copies.change_id")) return false;
    throw error;
  }
}

/** An entry of the log. */
interface LoggedChange {
  readonly id: number;
  readonly tableName: string;
  /** The text of the key, as in the log. */
  readonly key: string;
}

/** The next entries of the log that are for a shard: two ranges of one index, so that entries for others are not read. */
function selectChanges(
  directory: Database,
  { shardId, after, atOnce }: { shardId: number; after: number; atOnce: number },
): Promise<LoggedChange[]> {
  const range = (of: number) => sql`select * from (
    select id, table_name as "tableName", "key" from ${copiedChanges}
    where shard_id = ${of} and id > ${after}
    order by id
    limit ${atOnce}
  )`;
  return directory.all<LoggedChange>(sql`
    ${range(0)}
    union all
    ${range(shardId)}
    order by id
    limit ${atOnce}`);
}

interface Read {
  readonly rows: ReadonlyMap<string, readonly CopiedRow[]>;
  /** By table, the keys that the log has again. */
  readonly later: ReadonlyMap<string, ReadonlySet<string>>;
  /** The last hiding of a repository that these rows take into account. */
  readonly hiddenId: number;
}

/** Reads the rows of one moment. */
async function readRows(
  directory: Database,
  keys: KeysByTable,
  at: { shardId: number; changeId: number },
): Promise<Read> {
  const tables = reachedTables(keys);
  const changed = tables.filter(({ name }) => keys.has(name));
  const [[hidden], ...results] = (await directory.batch([
    directory.textStatement(selectHiddenId()),
    ...tables.map((table) => directory.textStatement(selectCopied(table, keys, at.shardId))),
    ...changed.map((table) =>
      directory.textStatement(selectLaterKeys(table, keys.get(table.name) ?? [], at)),
    ),
  ] as never)) as [CopiedRow[], ...CopiedRow[][]];
  return {
    hiddenId: Number(hidden?.id),
    rows: new Map(tables.map(({ name }, index) => [name, results[index] ?? []])),
    later: new Map(
      changed.map(({ name }, index) => [
        name,
        new Set((results[tables.length + index] ?? []).map(({ key }) => String(key))),
      ]),
    ),
  };
}

/** Changed rows that are not there any more. One that the log has again is left to that entry, after what refers to it. */
function goneKeys(
  table: CopiedTable,
  keys: KeysByTable,
  rows: Read["rows"],
  later: Read["later"],
): string[] {
  const present = new Set(
    (rows.get(table.name) ?? []).map((row) =>
      JSON.stringify(table.key.map((column) => row[column])),
    ),
  );
  const isLater = later.get(table.name);
  return (keys.get(table.name) ?? []).filter((key) => !present.has(key) && !isLater?.has(key));
}
