import { asc, eq, sql } from "drizzle-orm";

import { countMoved, enterRows, listed } from "../../db/moves/move-sql.ts";
import { KEPT_TABLES, movedTables } from "../../db/moves/moved-tables.ts";
import type { Database } from "../../db/db.ts";
import {
  type CopyKey,
  movingRepositories,
  repositories,
  shardRepositories,
} from "../../db/schema/index.ts";
import { copyToShard } from "../shards/copy-to-shards.ts";
import { NO_RANGE_LEFT, raiseIdRange } from "../shards/id-ranges.ts";
import { createTriggers, MoveFailed, type OpenedMove, save } from "./opened-move.ts";

/** Rows that are entered into the log at once. */
const ENTERED_AT_ONCE = 2000;

/**
 * Lets repositories of the network take part in the move that do not yet: those of its start, and forks that were made since. The target gets
 * the copies of what they refer to, and refuses writes of them; the source enters each change into its log.
 *
 * Safe to repeat: rows are entered after the triggers, so that none is missed, and some come twice.
 *
 * @returns Whether all of them take part.
 * @throws MoveFailed if one is in a third database, or has rows in the target.
 */
export async function enterRepositories(opened: OpenedMove): Promise<boolean> {
  const { directory, source, target, move, budget, ctx } = opened;
  const members = await membersOf(opened);
  if (members.length === 0) throw new MoveFailed("the repositories are deleted");
  const stray = members.find(({ shard }) => shard !== move.source);
  if (stray) throw new MoveFailed(`repository ${stray.id} is in database ${stray.shard}`);
  const missing = members.map(({ id }) => id).filter((id) => !move.entered.includes(id));
  if (missing.length === 0) return true;
  budget.consume(20);

  const each = sql`from json_each(${JSON.stringify(missing)}) where true on conflict do nothing`;
  await raiseTarget(opened);
  await directory.batch([
    directory.textStatement(sql`
      update repository_moves set given_copies = (
        select json_group_array(value) from (
          select value from json_each(given_copies)
          union
          select value from json_each(${JSON.stringify(missing)})
          where value not in (
            select repo_id from shard_repositories where shard_id = ${move.target}
          )
        )
      )
      where id = ${move.id}`),
    directory.textStatement(sql`
      insert into ${shardRepositories} (shard_id, repo_id) select ${move.target}, value ${each}`),
  ]);
  // With it the ids of new rows in the target rise.
  if (!(await copyToShard(directory, { id: move.target, db: target }, ctx.now))) return false;
  const prepared = await target.select().from(movingRepositories).where(ofMove(opened));
  const fresh = missing.filter((id) => !prepared.some(({ repoId }) => repoId === id));
  const counts = await countRows(target, fresh);
  const full = [...counts].find(([name, count]) => count > 0 && !KEPT_TABLES.includes(name));
  if (full) throw new MoveFailed(`the target has rows of ${full[0]} already`);
  for (const [db, isSource] of [
    [target, false],
    [source, true],
  ] as const) {
    await db.batch([
      db.textStatement(sql`
        insert into move_sides (move_id, is_source, is_closed, fence)
        values (${move.id}, ${isSource}, ${!isSource}, ${move.fence})
        on conflict do nothing`),
      ...createTriggers(db),
      db.textStatement(sql`
        insert into ${movingRepositories} (repo_id, move_id) select value, ${move.id} ${each}`),
    ]);
  }
  await save(opened, { state: "copying", entering: missing, enterTable: 0, enterKey: null });
  return true;
}

/**
 * Lets new ids of the target be greater than all that come: it gets a new range of ids if the source gives greater ones. Without, its sequences
 * would follow ids that come from another database, and both would give the same.
 *
 * @throws MoveFailed if no range is left.
 */
export async function raiseTarget({ directory, move, budget }: OpenedMove): Promise<void> {
  budget.consume(2);
  const { target: shardId, source: above } = move;
  if (!(await raiseIdRange(directory, { shardId, above }))) throw new MoveFailed(NO_RANGE_LEFT);
}

/** The repositories of the network, as the first database has them. */
export const membersOf = ({ directory, move }: OpenedMove) =>
  directory
    .select({ id: repositories.id, shard: repositories.shard })
    .from(repositories)
    .where(eq(repositories.networkName, move.networkName))
    .orderBy(asc(repositories.id));

const ofMove = ({ move }: OpenedMove) => eq(movingRepositories.moveId, move.id);

/** The number of rows of each table. */
export async function countRows(
  db: Database,
  repoIds: readonly number[],
): Promise<Map<string, number>> {
  const results = (await db.batch(
    movedTables().map((table) => db.textStatement(countMoved(table, listed(repoIds)))) as never,
  )) as { count: number }[][];
  return new Map(movedTables().map(({ name }, at) => [name, results[at]?.[0]?.count ?? 0]));
}

/** Enters the next rows of repositories into the log of the source. */
export async function enterNext(opened: OpenedMove): Promise<void> {
  const { source, move, budget } = opened;
  const { entering, enterTable, enterKey } = move;
  const table = movedTables()[enterTable];
  if (!table) {
    await save(opened, {
      state: "following",
      entered: [...move.entered, ...entering],
      entering: [],
      enterTable: 0,
      enterKey: null,
    });
    return;
  }
  budget.consume(1);
  const keys = await source.all<{ key: string }>(
    enterRows(table, { moveId: move.id, repoIds: entering, after: enterKey }, ENTERED_AT_ONCE),
  );
  const last = keys.at(-1);
  const isEnd = keys.length < ENTERED_AT_ONCE;
  await save(
    opened,
    isEnd || !last
      ? { enterTable: enterTable + 1, enterKey: null }
      : { enterKey: JSON.parse(last.key) as CopyKey },
  );
}
