import { eq, type SQL, sql } from "drizzle-orm";

import { sqlList, sqlName } from "../../db/copies/copy-sql.ts";
import type { Database } from "../../db/db.ts";
import { deleteMoved, isOfRepositories, reposOf, selectSome } from "../../db/moves/move-sql.ts";
import { KEPT_TABLES, movedTables, movedTable } from "../../db/moves/moved-tables.ts";
import {
  moveChanges,
  moveSides,
  movingRepositories,
  shardRepositories,
} from "../../db/schema/index.ts";
import { copyToShard } from "../shards/copy-to-shards.ts";
import { isIdOfThisShard } from "../shards/id-ranges.ts";
import { open } from "./freeze.ts";
import {
  dropTriggers,
  MoveLeaseLost,
  moveBatch,
  type OpenedMove,
  save,
  sideOf,
} from "./opened-move.ts";

/** How long the source keeps the rows after a move, for requests that began to read there, in milliseconds. */
const KEPT_MS = 2 * 60_000;
/** How long it refuses writes, in milliseconds. */
const REFUSING_MS = 24 * 60 * 60_000;
/** Rows that are removed at once. */
const REMOVED_AT_ONCE = 500;

/** Rows in the source that jobs look for, whatever repository they are of. They go at once: a job that writes them would fail, and others with it. */
const OF_JOBS = [
  "scheduled_merges",
  "merge_queue_entries",
  "merge_queues",
  "import_answers",
  "imports",
  "push_mirrors",
  "pull_mirrors",
];

/**
 * Opens the target, whose row of each repository gets what the source's had, and takes from the source what jobs would find.
 *
 * @returns Whether it is done.
 */
export async function openTarget(opened: OpenedMove): Promise<boolean> {
  const { directory, source, target, move, ctx, budget } = opened;
  budget.consume(30);
  // Its copy names this shard then, and the columns are its own.
  if (!(await copyToShard(directory, { id: move.target, db: target }, ctx.now))) return false;
  const [side] = await target.all<{ id: number }>(sql`select move_id as id ${sideOf(move.id)}`);
  if (side) {
    const rows = Object.entries(move.owned).map(([id, values]) =>
      Object.assign({ id: Number(id) }, values),
    );
    const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== "id");
    const value = (column: string) => sql`json_extract(value, ${sql.raw(`'$.${column}'`)})`;
    const changes = columns.map((column) => {
      const [name, present] = [sqlName(column), sql`repositories.${sqlName(column)}`];
      if (column === "updated_at") return sql`${name} = max(${present}, ${value(column)})`;
      if (column !== "owned_version") return sql`${name} = ${value(column)}`;
      return sql`${name} = max(${present}, ${value(column)}) + 1`;
    });
    const isCurrent = sql`(
      select case when count(*) = 0 then 1 end from moving_repositories
      join repositories on repositories.id = repo_id
      where move_id = ${move.id} and shard <> ${move.target}
    )`;
    const done = await moveBatch(target, move.id, isCurrent, [
      sql`update repositories set ${sqlList(changes)}
        from json_each(${JSON.stringify(rows)}) where repositories.id = ${value("id")}`,
      sql`insert into owned_changes (repo_id) select repo_id from moving_repositories
        where move_id = ${move.id} and repo_id in (select id from repositories)
          and repo_id not in (select repo_id from owned_changes)`,
      sql`delete from move_sides where move_id = ${move.id}`,
      sql`delete from moving_repositories where move_id = ${move.id}`,
    ]);
    if (!done) return false;
    ctx.eventQueues.noteChanged(move.target);
  }
  if (move.source !== 0) {
    await copyToShard(directory, { id: move.source, db: source }, ctx.now);
  }
  const repos = reposOf(move.id);
  await removeFrom(source, opened, [
    ...OF_JOBS.map((name) => {
      const table = movedTable(name);
      return sql`delete from ${sqlName(name)} where ${isOfRepositories(table, repos)}`;
    }),
    sql`update hook_deliveries set next_attempt_at = null
      where next_attempt_at is not null and webhook_event_id in (
        select id from webhook_events where repo_id in ${repos}
      )`,
  ]);
  await dropTriggers(target, move.id);
  await save(opened, { state: "cleaning", dueAt: (move.movedAt ?? Date.now()) + KEPT_MS });
  return true;
}

/**
 * Removes the source's rows in steps. The source goes on to refuse writes of the repositories until no request can be under way
 * that found them there.
 *
 * @returns Whether it goes on at once.
 */
export async function clean(opened: OpenedMove): Promise<boolean> {
  const { source, move } = opened;
  if (await removeSome(source, opened)) return true;
  const end = (move.movedAt ?? 0) + REFUSING_MS;
  if (Date.now() < end) {
    await save(opened, { dueAt: end });
    return false;
  }
  // The copies of the repositories' rows stay, for the events that do.
  await leave(source, opened);
  await save(opened, { state: "done", dueAt: null, finishedAt: Date.now() });
  return false;
}

/**
 * Undoes what a move has done before it named the target: opens the source, and removes the copy.
 *
 * @returns Whether it goes on at once.
 */
export async function revert(opened: OpenedMove): Promise<boolean> {
  const { directory, source, target, move } = opened;
  await open(opened);
  const [side] = await target.all(sql`select 1 ${sideOf(move.id)} and not is_source`);
  if (side) {
    if (await removeSome(target, opened, { keepsAllEvents: false })) return true;
    await forgetCopies(directory, move);
    await leave(target, opened);
  }
  await leave(source, opened);
  await save(opened, {
    state: move.reason === "" ? "cancelled" : "failed",
    dueAt: null,
    finishedAt: Date.now(),
  });
  return false;
}

/** Runs statements in a database that refuses writes of the repositories. */
async function removeFrom(
  db: Database,
  { move, budget }: OpenedMove,
  statements: readonly SQL[],
): Promise<void> {
  budget.consume(statements.length + 3);
  const isCurrent = sql`(select case when is_closed then 1 end ${sideOf(move.id)})`;
  if (!(await moveBatch(db, move.id, isCurrent, statements))) throw new MoveLeaseLost();
}

/**
 * Removes some rows of the repositories.
 *
 * @param keepsAllEvents Whether all events stay, or those alone that the database has recorded itself: the repositories were there before.
 * @returns Whether there were any.
 */
async function removeSome(
  db: Database,
  opened: OpenedMove,
  { keepsAllEvents = true } = {},
): Promise<boolean> {
  const repos = reposOf(opened.move.id);
  for (const table of movedTables().toReversed()) {
    const isKept = KEPT_TABLES.includes(table.name);
    if (isKept && keepsAllEvents) continue;
    opened.budget.consume(1);
    const isRemoved = isKept ? sql`not ${isIdOfThisShard(sql`${sqlName(table.name)}.id`)}` : sql`1`;
    const keys = await db.all<{ key: string }>(
      selectSome(table, sql`${isOfRepositories(table, repos)} and ${isRemoved}`, REMOVED_AT_ONCE),
    );
    if (keys.length === 0) continue;
    const some = keys.map(({ key }) => key);
    await removeFrom(db, opened, [deleteMoved(table, some)]);
    return true;
  }
  return false;
}

/** Takes the copies of the repositories' rows from the target, but for those that it had before: something there refers to these. */
async function forgetCopies(
  directory: Database,
  { target, givenCopies }: OpenedMove["move"],
): Promise<void> {
  const ids = JSON.stringify(givenCopies);
  await directory.delete(shardRepositories).where(
    sql`${shardRepositories.shardId} = ${target}
      and ${shardRepositories.repoId} in (select value from json_each(${ids}))
      and not exists (
        select 1 from repositories
        where id = ${shardRepositories.repoId} and shard = ${target}
      )`,
  );
}

/** Ends the part of a database in a move. */
async function leave(db: Database, { move, budget }: OpenedMove): Promise<void> {
  budget.consume(130);
  await db.batch([
    db.delete(moveSides).where(eq(moveSides.moveId, move.id)),
    db.delete(movingRepositories).where(eq(movingRepositories.moveId, move.id)),
    db.delete(moveChanges).where(eq(moveChanges.moveId, move.id)),
  ]);
  await dropTriggers(db, move.id);
}
