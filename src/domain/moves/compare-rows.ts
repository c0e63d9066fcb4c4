import { sql } from "drizzle-orm";

import { keyText, type MovedRow, reposOf, selectMoved } from "../../db/moves/move-sql.ts";
import { movedTable } from "../../db/moves/moved-tables.ts";
import { log } from "../../lib/log.ts";
import { type MovedKeys, readCopied, readLog, readMovedRows } from "./copy-rows.ts";
import { MoveFailed, type OpenedMove, save } from "./opened-move.ts";

/** Rows that may differ before a move fails. */
const DIFFERENCES_MAX = 100;

/**
 * Compares the rows that the next entries of the log name in both databases: all of their columns. A row that differs, and that the log does not name
 * after what the target has, is entered again.
 *
 * @returns Whether there were any.
 * @throws MoveFailed after too many that differ.
 */
export async function compareNext(opened: OpenedMove): Promise<boolean> {
  const { source, target, move, budget } = opened;
  const copied = await readCopied(opened);
  const page = await readLog(opened, move.comparedId, copied);
  if (!page) return false;
  // What the target has is read first: the source's log then has all changes that it lacks.
  const names = [...page.keys.keys()];
  budget.consume(names.length);
  const results = (await target.batch(
    names.map((name) =>
      target.textStatement(
        selectMoved(movedTable(name), page.keys.get(name) ?? [], reposOf(move.id)),
      ),
    ) as never,
  )) as MovedRow[][];
  const { rows, later } = await readMovedRows(opened, page.keys, copied);
  const differing = new Map<string, string[]>();
  for (const [at, name] of names.entries()) {
    const table = movedTable(name);
    const copies = new Map((results[at] ?? []).map((row) => [keyText(table, row), row]));
    const isEqual = (key: string): boolean =>
      JSON.stringify(copies.get(key)) === JSON.stringify(rows.get(name)?.get(key));
    const keys = (page.keys.get(name) ?? []).filter(
      (key) => !isEqual(key) && !later.get(name)?.has(key),
    );
    if (keys.length > 0) differing.set(name, keys);
  }
  const count = [...differing.values()].reduce((sum, { length }) => sum + length, 0);
  if (count > 0) {
    log("moves:differ", { move: move.id, rows: count, tables: [...differing.keys()].join(" ") });
    await source.batch(enterAgain(opened, differing) as never);
  }
  const differenceCount = move.differenceCount + count;
  await save(opened, { comparedId: page.end, differenceCount });
  if (differenceCount > DIFFERENCES_MAX) {
    throw new MoveFailed(`rows of ${[...differing.keys()].join(", ")} differ`);
  }
  return true;
}

const enterAgain = ({ source, move }: OpenedMove, keys: MovedKeys) =>
  [...keys].map(([name, some]) =>
    source.textStatement(sql`
      insert into move_changes (move_id, table_name, "key")
      select ${move.id}, ${name}, value from json_each(${JSON.stringify(some)})`),
  );
