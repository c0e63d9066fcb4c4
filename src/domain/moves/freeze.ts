import { sql } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";

import { copiedTable, SHARD_OWNED } from "../../db/copies/copied-tables.ts";
import { sqlList, sqlName } from "../../db/copies/copy-sql.ts";
import { type Database, isViolation } from "../../db/db.ts";
import { listed, reposOf } from "../../db/moves/move-sql.ts";
import { KEPT_TABLES } from "../../db/moves/moved-tables.ts";
import type { OwnedValues } from "../../db/schema/index.ts";
import { copyToShard } from "../shards/copy-to-shards.ts";
import { compareNext } from "./compare-rows.ts";
import { copyNext } from "./copy-rows.ts";
import { countRows, membersOf } from "./enter-repositories.ts";
import { giveToldCopies, hasNearReferences } from "./near-references.ts";
import { isHeld, MoveLeaseLost, MoveFailed, type OpenedMove, save, sideOf } from "./opened-move.ts";

/** For how long writes wait at most, in milliseconds. */
const FROZEN_MS_MAX = 10_000;

/** The columns of a repository's row that change with its own data, with the version of their copies. */
const OWNED = [...SHARD_OWNED.map(toSnakeCase), "owned_version"];

/**
 * Closes the source, copies and compares what is left, and lets the first database name the target. If that can't be done, or takes too
 * long, the source is opened again.
 *
 * A write of the source is before the closing, so that the log has it, or fails. The statement that names the target asks
 * whether this job still has the lease, so that a job that took it over, and opened the source, is never followed by that.
 *
 * @returns Why the source is open again; undefined if the repositories have moved.
 */
export async function freezeAndMove(opened: OpenedMove): Promise<string | undefined> {
  const startedAt = Date.now();
  await save(opened, { state: "frozen", freezeCount: opened.move.freezeCount + 1 });
  let reason: string | undefined;
  try {
    reason = await closeAndMove(opened, startedAt + FROZEN_MS_MAX);
    if (reason === undefined) return undefined;
  } catch (error) {
    if (error instanceof MoveLeaseLost) throw error;
    await open(opened);
    throw error;
  }
  await open(opened);
  return reason;
}

/** Opens the source again, unless a later job has closed it. */
export async function open(opened: OpenedMove): Promise<void> {
  const { source, move, budget } = opened;
  budget.consume(1);
  await source.run(sql`
    update move_sides set is_closed = 0, fence = ${move.fence}
    where move_id = ${move.id} and is_source and fence <= ${move.fence}`);
  if (move.state === "frozen") await save(opened, { state: "following" });
}

async function closeAndMove(opened: OpenedMove, until: number): Promise<string | undefined> {
  const { directory, source, target, ctx, move } = opened;
  const sides = [
    [move.source, source],
    [move.target, target],
  ] as const;
  // Rows that follow from copies follow in both, and are not to differ.
  for (const [id, db] of sides) {
    if (id !== 0 && !(await copyToShard(directory, { id, db }, ctx.now))) return "copies are late";
  }
  if (!(await close(opened))) return "events, mirrors, merges or an import are under way";
  if (await hasNearReferences(opened)) return "issues came to refer to those of other repositories";
  await giveToldCopies(opened);
  while (await copyNext(opened)) if (Date.now() > until) return "too many changes";
  while (await compareNext(opened)) if (Date.now() > until) return "too many changes";
  // What differed is entered again.
  if (await copyNext(opened)) return "rows differed";

  const repoIds = (await membersOf(opened)).map(({ id }) => id);
  const [counts, copied] = await Promise.all([source, target].map((db) => countRows(db, repoIds)));
  for (const [name, count] of counts ?? []) {
    const has = copied?.get(name) ?? 0;
    if (has === count || (KEPT_TABLES.includes(name) && has > count)) continue;
    throw new MoveFailed(`the target has ${has} rows of ${name} instead of ${count}`);
  }
  const owned = await readOwned(source, repoIds);
  if (owned.size !== repoIds.length || Date.now() > until) return "too late";
  return nameTarget(opened, { repoIds, counts: counts ?? new Map(), owned });
}

/**
 * Closes the source where no job works on the repositories, and nothing is due that may have been begun.
 *
 * @returns Whether it did.
 */
async function close({ source, move, ctx, budget }: OpenedMove): Promise<boolean> {
  budget.consume(1);
  const repos = reposOf(move.id);
  const now = Date.now() > ctx.now ? Date.now() : ctx.now;
  const busy = [
    sql`select 1 from events where repo_id in ${repos} and dispatch_at is not null`,
    sql`select 1 from events where repo_id in ${repos} and consequences_at is not null`,
    sql`select 1 from hooks where repo_id in ${repos} and leased_until > ${now}`,
    sql`select 1 from pull_mirrors where repo_id in ${repos} and leased_until > ${now}`,
    sql`select 1 from push_mirrors where repo_id in ${repos} and leased_until > ${now}`,
    sql`select 1 from imports
      where repo_id in ${repos} and (state in ('running', 'waiting') or leased_until > ${now})`,
    sql`select 1 from merge_queues where repo_id in ${repos} and state not in ('idle', 'testing')`,
  ];
  try {
    // The column takes no null, which is refused.
    await source.run(sql`
      update move_sides set
        fence = ${move.fence},
        is_closed = case when ${sql.join(
          busy.map((query) => sql`not exists (${query})`),
          sql` and `,
        )} then 1 end
      where move_id = ${move.id} and is_source and fence <= ${move.fence}`);
  } catch (error) {
    if (!isViolation(error, "NOT NULL", "move_sides.is_closed")) throw error;
    return false;
  }
  const [side] = await source.all<{ ok: number }>(
    sql`select is_closed and fence = ${move.fence} as ok ${sideOf(move.id)}`,
  );
  if (!side?.ok) throw new MoveLeaseLost();
  return true;
}

async function readOwned(db: Database, repoIds: readonly number[]) {
  const rows = await db.all<OwnedValues & { id: number }>(sql`
    select id, ${sqlList(OWNED.map(sqlName))} from repositories where id in ${listed(repoIds)}`);
  return new Map(rows.map(({ id, ...values }) => [id, values]));
}

/** What is stored with the move. */
interface Moved {
  readonly repoIds: readonly number[];
  readonly counts: ReadonlyMap<string, number>;
  readonly owned: ReadonlyMap<number, OwnedValues>;
}

/** @returns Why nothing was changed; undefined if the first database names the target now. */
async function nameTarget(opened: OpenedMove, moved: Moved): Promise<string | undefined> {
  const { directory, move, budget } = opened;
  const { repoIds, counts, owned } = moved;
  const members = sql`(select id from repositories where network_name = ${move.networkName})`;
  const ids = listed(repoIds);
  const isReady = sql`
    ${repoIds.length} = (
      select count(*) from repositories where id in ${ids} and shard = ${move.source}
    )
    and not exists (select 1 from repositories where id in ${members} and id not in ${ids})
    and not exists (
      select 1 from relayed_events r join events e on e.id = r.event_id
      where r.shard_id = ${move.source} and e.repo_id in ${ids}
    )
    and not exists (
      select 1 from shard_tasks
      where shard_id = ${move.source} and (
        task ->> 'repoId' in ${ids}
        or task ->> 'repoId' is null
          and task ->> 'ownerId' in (select owner_id from repositories where id in ${ids})
      )
    )`;
  const now = Date.now();
  budget.consume(3);
  try {
    const [rows] = (await directory.batch([
      directory.textStatement(sql`
        update repository_moves set
          state = case when ${isReady} then 'moved' end,
          moved_at = ${now}, reason = '', failure_count = 0,
          row_counts = ${JSON.stringify(Object.fromEntries(counts))},
          owned = ${JSON.stringify(Object.fromEntries(owned))}
        where ${isHeld(opened)}
        returning id`),
      directory.textStatement(sql`
        update repositories set shard = ${move.target}
        where id in ${ids} and exists (
          select 1 from repository_moves
          where id = ${move.id} and fence = ${move.fence} and state = 'moved'
        )`),
      // Shards that have the row have the number of its shard.
      directory.textStatement(sql`
        insert into copied_changes (table_name, "key", shard_id)
        select ${copiedTable("repositories").name}, json_array(repo_id), shard_id
        from shard_repositories where repo_id in ${ids}`),
    ])) as unknown as unknown[][];
    if (rows?.length !== 1) throw new MoveLeaseLost();
  } catch (error) {
    if (!isViolation(error, "NOT NULL", "repository_moves.state")) throw error;
    return "a fork, an event or a task of the first database came in between";
  }
  opened.move = { ...move, state: "moved", movedAt: now, owned: Object.fromEntries(owned) };
  return undefined;
}
