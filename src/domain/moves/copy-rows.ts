import { and, asc, eq, gt, lte, sql } from "drizzle-orm";

import { isViolation } from "../../db/db.ts";
import {
  areBelowSequences,
  deleteMoved,
  freeUniqueValues,
  keyText,
  type MovedRow,
  reposOf,
  selectLater,
  selectMoved,
  upsertMoved,
} from "../../db/moves/move-sql.ts";
import { movedTables, movedTable } from "../../db/moves/moved-tables.ts";
import { moveChanges, moveSides } from "../../db/schema/index.ts";
import { copyToShard } from "../shards/copy-to-shards.ts";
import { raiseTarget } from "./enter-repositories.ts";
import { makeReferencesFar } from "./near-references.ts";
import { MoveLeaseLost, moveBatch, type OpenedMove, sideOf } from "./opened-move.ts";

/** Entries of the log that are copied or compared at once, and how many of them one of a table with large rows counts for. */
const ENTRIES_AT_ONCE = 200;
const LARGE_TABLES = new Set(["events", "webhook_events", "hook_deliveries", "import_answers"]);
const LARGE_WEIGHT = 20;
/** Characters of rows that one statement writes; D1 takes parameters of 2 MB. */
const STATEMENT_CHARACTERS = 500_000;

/** Rows that come have greater ids than the target has given: the source has got a new range since the move began. */
class IdsAhead extends Error {}

/** Keys of rows by table. */
export type MovedKeys = ReadonlyMap<string, readonly string[]>;

/** A page of the log of the source: its last entry, and the rows that it names. */
export interface LogPage {
  readonly end: number;
  readonly keys: MovedKeys;
}

/** Reads the next entries of the log, as far as they may be together and not after `until`; undefined at its end. */
export async function readLog(
  { source, move, budget }: OpenedMove,
  after: number,
  until = Number.MAX_SAFE_INTEGER,
): Promise<LogPage | undefined> {
  budget.consume(1);
  const { id, tableName, key } = moveChanges;
  const entries = await source
    .select({ id, tableName, key: sql<string>`${key}`.as("key") })
    .from(moveChanges)
    .where(and(eq(moveChanges.moveId, move.id), gt(id, after), lte(id, until)))
    .orderBy(asc(id))
    .limit(ENTRIES_AT_ONCE);
  let weight = 0;
  const keys = new Map<string, Set<string>>();
  let end = 0;
  for (const entry of entries) {
    weight += LARGE_TABLES.has(entry.tableName) ? LARGE_WEIGHT : 1;
    if (weight > ENTRIES_AT_ONCE) break;
    keys.set(entry.tableName, (keys.get(entry.tableName) ?? new Set()).add(entry.key));
    end = entry.id;
  }
  if (end === 0) return undefined;
  return { end, keys: new Map([...keys].map(([table, some]) => [table, [...some]])) };
}

/** The last entry of the log that the target has. */
export async function readCopied({ target, move, budget }: OpenedMove): Promise<number> {
  budget.consume(1);
  const [side] = await target.select().from(moveSides).where(eq(moveSides.moveId, move.id));
  if (!side || side.isSource) throw new MoveLeaseLost();
  return side.copiedId;
}

/**
 * Copies the rows that the next entries of the log name, as they are now. Safe to repeat and to run concurrently: of two runs, one
 * writes.
 *
 * A row that is gone is deleted with the last entry that names it: until then, rows that refer to it in the target may not have been
 * copied since they ceased to.
 *
 * @returns Whether there were any, which are not copied yet if the budget has ended.
 */
export async function copyNext(opened: OpenedMove): Promise<boolean> {
  const { directory, target, move, ctx, budget } = opened;
  const before = await readCopied(opened);
  const page = await readLog(opened, before);
  if (!page) return false;
  let keys: MovedKeys = page.keys;
  let freesUnique = false;
  let isRaised = false;
  let areFar = false;
  for (;;) {
    try {
      await writePage(opened, before, { end: page.end, keys }, { freesUnique });
      return true;
    } catch (error) {
      if (error instanceof MoveLeaseLost) throw error;
      if (error instanceof IdsAhead) {
        if (isRaised) throw error;
        isRaised = true;
        await raiseTarget(opened);
        await copyToShard(directory, { id: move.target, db: target }, ctx.now);
        continue;
      }
      // A foreign key fails at the end of the batch, where the local database says no more than that it failed.
      if (isViolation(error, "UNIQUE") && !freesUnique) freesUnique = true;
      // References that were made since the others were turned. Those that come now have later entries.
      else if (!areFar) {
        areFar = !(await makeReferencesFar(opened));
        if (!areFar && budget.isExhausted) return true;
      } else if (keys === page.keys) keys = await withReferred(opened, keys);
      else throw error;
    }
  }
}

/** Rows by table, and the keys of those that the log names after an entry. */
interface RowsOfKeys {
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, MovedRow>>;
  readonly later: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Reads rows of one moment from the source. */
export async function readMovedRows(
  { source, move, budget }: OpenedMove,
  keys: MovedKeys,
  after: number,
): Promise<RowsOfKeys> {
  const tables = [...keys];
  budget.consume(tables.length * 2);
  const results = (await source.batch(
    tables.flatMap(([name, some]) => [
      source.textStatement(selectMoved(movedTable(name), some, reposOf(move.id))),
      source.textStatement(selectLater(movedTable(name), some, { moveId: move.id, after })),
    ]) as never,
  )) as MovedRow[][];
  return {
    rows: new Map(
      tables.map(([name], at) => {
        const table = movedTable(name);
        const rows = results[at * 2] ?? [];
        return [name, new Map(rows.map((row) => [keyText(table, row), row]))];
      }),
    ),
    later: new Map(
      tables.map(([name], at) => [
        name,
        new Set((results[at * 2 + 1] ?? []).map(({ key }) => String(key))),
      ]),
    ),
  };
}

async function writePage(
  opened: OpenedMove,
  before: number,
  { end, keys }: LogPage,
  { freesUnique = false } = {},
): Promise<void> {
  const { target, move, budget } = opened;
  const { rows, later } = await readMovedRows(opened, keys, end);
  const tables = movedTables().filter(({ name }) => keys.has(name));
  const statements = [
    ...tables.toReversed().flatMap((table) => {
      const present = rows.get(table.name);
      const isLater = later.get(table.name);
      const gone = (keys.get(table.name) ?? []).filter(
        (key) => !present?.has(key) && !isLater?.has(key),
      );
      return gone.length > 0 ? [deleteMoved(table, gone)] : [];
    }),
    ...tables.flatMap((table) => {
      const present = [...(rows.get(table.name)?.values() ?? [])];
      return freesUnique && present.length > 0 ? freeUniqueValues(table, present) : [];
    }),
    ...tables.flatMap((table) =>
      chunksOf([...(rows.get(table.name)?.values() ?? [])]).map((some) => upsertMoved(table, some)),
    ),
    sql`update move_sides set copied_id = ${end} where move_id = ${move.id}`,
  ];
  budget.consume(statements.length + 3);
  const areInOrder = areBelowSequences(
    new Map(tables.map((table) => [table, [...(rows.get(table.name)?.values() ?? [])]])),
  );
  const isCurrent = sql`(
    select case
      when not is_source and copied_id = ${before} and fence <= ${move.fence}
        and ${areInOrder}
      then 1
    end
    ${sideOf(move.id)}
  )`;
  if (await moveBatch(target, move.id, isCurrent, statements)) return;
  const [found] = await target.all<{ ok: number }>(sql`select ${areInOrder} as ok`);
  throw found?.ok === 1 ? new MoveLeaseLost() : new IdsAhead("ids are ahead of the target's");
}

/** Rows that one statement writes. */
function chunksOf(rows: readonly MovedRow[]): MovedRow[][] {
  const chunks: MovedRow[][] = [];
  let left = 0;
  for (const row of rows) {
    const size = JSON.stringify(row).length;
    if (size > left) {
      chunks.push([]);
      left = STATEMENT_CHARACTERS;
    }
    left -= size;
    chunks.at(-1)?.push(row);
  }
  return chunks;
}

/** The keys with those of all rows that these rows refer to: an older entry may name a row that refers to a newer one by now. */
async function withReferred(opened: OpenedMove, keys: MovedKeys): Promise<MovedKeys> {
  const all = new Map([...keys].map(([name, some]) => [name, new Set(some)]));
  let added: MovedKeys = keys;
  while (added.size > 0) {
    const { rows } = await readMovedRows(opened, added, 0);
    const next = new Map<string, string[]>();
    for (const [name, some] of rows) {
      for (const { column, to } of movedTable(name).references) {
        for (const row of some.values()) {
          const value = row[column];
          const key = JSON.stringify([value]);
          if (value == null || all.get(to)?.has(key)) continue;
          all.set(to, (all.get(to) ?? new Set()).add(key));
          next.set(to, [...(next.get(to) ?? []), key]);
        }
      }
    }
    added = next;
  }
  return new Map([...all].map(([name, some]) => [name, [...some]]));
}
