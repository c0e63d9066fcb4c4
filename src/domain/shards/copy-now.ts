import { and, eq, inArray, isNotNull, lt, lte, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { shards } from "../../db/schema/index.ts";
import { log, logBug } from "../../lib/log.ts";
import { copyChanges, copyKnownChanges, type KnownChanges } from "./copy-changes.ts";

/** Shards that one request waits for, pages of the log for each, and the time. The rest is left to the schedule. */
const SHARDS_MAX = 20;
const STEPS_MAX = 3;
/** Entries that are read with the question which shards lack something. A request seldom makes more. */
const KNOWN_MAX = 100;
const WAIT_MS = 2000;
/** For how long no request waits for a shard that did not answer one. */
const AVOIDED_MS = 60_000;

type Waiting = Pick<Ctx, "openShards" | "defer" | "now">;

/**
 * Brings the shards up to date that concern what a request wrote in the first database, before it answers: its caller's next request
 * then sees in each of them what this one did. Never throws: the schedule copies what is left.
 *
 * Cost: one round trip, and for changes of copied rows one of each shard and one more of the first database; two more of both if
 * another request copies at the same time.
 *
 * @param directory The first database, by the session of the request.
 */
export function copyAfterWrites(directory: Database, waiting: Waiting): Promise<void> {
  const isWaitedFor = and(isNotNull(shards.seededAt), lte(shards.avoidedUntil, waiting.now));
  return copyToBehind(directory, waiting, { isWanted: isWaitedFor, limit: SHARDS_MAX });
}

/**
 * Brings shards up to date before a request answers. Never throws: a shard that fails or is too late is logged and left to the
 * schedule.
 *
 * @param directory The first database, from its primary.
 */
export async function copyNow(
  directory: Database,
  waiting: Waiting,
  shardIds: readonly number[],
): Promise<void> {
  if (shardIds.length === 0) return;
  const isWanted = inArray(shards.id, [...shardIds]);
  await copyToBehind(directory, waiting, { isWanted, limit: shardIds.length });
}

/** Shards, and how many of them at most. */
interface Wanted {
  readonly isWanted: SQL | undefined;
  readonly limit: number;
}

/** Brings those of some shards up to date that lack entries of the log. */
async function copyToBehind(directory: Database, waiting: Waiting, wanted: Wanted): Promise<void> {
  try {
    const behind = await selectBehind(directory, wanted);
    await Promise.all(behind.map((each) => copyOne(directory, waiting, each)));
  } catch (error) {
    logBug("copies", error);
  }
}

/** A shard that lacks entries of the log. */
interface Behind extends Omit<KnownChanges, "changes"> {
  /** The last entry of the log. */
  readonly end: number;
  /** The next entries, as a JSON list of their columns. */
  readonly changes: string;
}

function selectBehind(directory: Database, { isWanted, limit }: Wanted): Promise<Behind[]> {
  // Two ranges of one index each.
  const entries = (columns: SQL, where: SQL, first = sql``) =>
    sql.join(
      [sql`0`, sql`${shards.id}`].map(
        (of) => sql`
          select * from (
            select ${columns} from copied_changes
            where shard_id = ${of} and id ${where} ${shards.copiedChangeId}
            ${first}
          )`,
      ),
      sql` union all `,
    );
  const last = entries(sql`max(id) as id`, sql`<=`);
  const next = entries(sql`id, table_name, "key"`, sql`>`, sql`order by id limit ${KNOWN_MAX + 1}`);
  return directory.all<Behind>(sql`
    select "shardId", "copied", "lastCopied", "changes", "end"
    from (
      select ${shards.id} as "shardId",
        (select max(id) from copied_changes where shard_id = 0) as all_end,
        (select max(id) from copied_changes where shard_id = ${shards.id}) as own_end,
        ${shards.copiedChangeId} as "copied",
        (select coalesce(max(id), 0) from (${last})) as "lastCopied",
        (select json_group_array(json_array(id, table_name, "key")) from (
          ${next} order by id limit ${KNOWN_MAX + 1}
        )) as "changes",
        (select max(id) from copied_changes) as "end"
      from ${shards}
      where ${isWanted}
    )
    where coalesce(all_end, 0) > "copied" or coalesce(own_end, 0) > "copied"
    order by coalesce(own_end, 0) > "copied" desc, "shardId"
    limit ${limit}`);
}

/** @param behind The shard, and what it lacks. */
async function copyOne(
  directory: Database,
  { openShards, defer, now }: Waiting,
  behind: Behind,
): Promise<void> {
  const { shardId: id, end } = behind;
  const shard = openShards().get(id);
  if (!shard) return;
  const copied = copyAll(directory, shard, behind).catch((error: unknown) => {
    logBug(`shard ${id}`, error);
    return false;
  });
  const isCopied = await within(WAIT_MS, copied);
  if (isCopied === undefined) defer(copied);
  if (isCopied) {
    const isEarlier = and(eq(shards.id, id), lt(shards.copiedChangeId, end));
    defer(directory.update(shards).set({ copiedChangeId: end }).where(isEarlier).execute());
    return;
  }
  log("copies:late", { shard: id });
  defer(
    directory
      .update(shards)
      .set({ avoidedUntil: now + AVOIDED_MS })
      .where(eq(shards.id, id))
      .execute(),
  );
}

/** @returns Whether nothing is left. */
async function copyAll(directory: Database, shard: Database, behind: Behind): Promise<boolean> {
  const rows = JSON.parse(behind.changes) as [number, string, string][];
  if (rows.length <= KNOWN_MAX) {
    const changes = rows.map(([id, tableName, key]) => ({ id, tableName, key }));
    if (await copyKnownChanges(directory, shard, { ...behind, changes })) return true;
  }
  for (let step = 0; step < STEPS_MAX; step++) {
    if (await copyChanges(directory, shard)) return true;
  }
  return false;
}

/** The result of work, or undefined if it takes longer. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
