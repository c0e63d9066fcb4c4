import { asc, eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { idRanges } from "../../db/schema/index.ts";

/** Ids of one range. */
export const IDS_PER_RANGE = 2 ** 36;
const SHIFT = sql.raw("36");

/** The last range: an entry of a feed has 64 times the id of its event, which is to be an integer of JavaScript. */
const ID_RANGE_MAX = 2047;

/** Why a repository can't move where the target would need a new range. */
export const NO_RANGE_LEFT =
  "the shard needs a new range of ids, since the repository has ids of a greater one, and none is left";

/** The ranges of a shard, in order. */
async function findIdRanges(directory: Database, shardId: number): Promise<number[]> {
  const rows = await directory
    .select({ number: idRanges.number })
    .from(idRanges)
    .where(eq(idRanges.shardId, shardId))
    .orderBy(asc(idRanges.number));
  return rows.map(({ number }) => number);
}

/**
 * The ranges of a shard, in order. A new one gets the range of its own number, or a new one if another shard has that by now. Safe
 * to repeat and to run concurrently.
 *
 * @throws Error if none is left.
 */
export async function openIdRanges(directory: Database, shardId: number): Promise<number[]> {
  const present = await findIdRanges(directory, shardId);
  if (present.length > 0) return present;
  await directory.run(sql`
    insert into id_ranges (number, shard_id)
    select number, ${shardId}
    from (
      select case
        when not exists (select 1 from id_ranges where number = ${shardId}) then ${shardId}
        else (select max(number) + 1 from id_ranges)
      end as number
    )
    where number <= ${ID_RANGE_MAX}
      and not exists (select 1 from id_ranges where shard_id = ${shardId})`);
  const given = await findIdRanges(directory, shardId);
  if (given.length === 0) throw new Error(`no range of ids is left for shard ${shardId}`);
  return given;
}

/**
 * Gives a shard a new range, above all others, unless its last one is above those of another database. One statement decides, so that no
 * two shards get the same.
 *
 * @param above The number of the other database.
 * @returns Whether its last range is above the other's now; if not, none is left.
 */
export async function raiseIdRange(
  directory: Database,
  { shardId, above }: { readonly shardId: number; readonly above: number },
): Promise<boolean> {
  const [, rows] = (await directory.batch([
    directory.textStatement(sql`
      insert into id_ranges (number, shard_id)
      select number + 1, ${shardId}
      from (select coalesce(max(number), 0) as number from id_ranges)
      where number < ${ID_RANGE_MAX} and not ${isAbove(shardId, above)}`),
    directory.textStatement(sql`select ${isAbove(shardId, above)} as found`),
  ])) as unknown as [unknown, { found: number }[]];
  return rows[0]?.found === 1;
}

/** Whether a shard's last range is above those of another database, or there are others to give. On the first database. */
export const isRangeLeft = (shardId: number, above: number): SQL => sql`(
  ${isAbove(shardId, above)}
  or coalesce((select max(number) from id_ranges), 0) < ${ID_RANGE_MAX}
)`;

const isAbove = (shardId: number, above: number): SQL =>
  sql`(${lastRange(shardId)} > ${lastRange(above)})`;

const lastRange = (shardId: number): SQL =>
  sql`coalesce((select max(number) from id_ranges where shard_id = ${shardId}), 0)`;

/**
 * Lists ranges that a shard has, and the first database does not list any more since it was restored to an earlier time.
 *
 * @throws Error if one is another shard's by now.
 */
export async function keepIdRanges(
  directory: Database,
  shardId: number,
  numbers: readonly number[],
): Promise<void> {
  if (numbers.length === 0) return;
  const list = JSON.stringify(numbers);
  await directory.run(sql`
    insert into id_ranges (number, shard_id)
    select value, ${shardId} from json_each(${list})
    where true
    on conflict do nothing`);
  const kept = await findIdRanges(directory, shardId);
  const lost = numbers.find((number) => !kept.includes(number));
  if (lost !== undefined) throw new Error(`range ${lost} of shard ${shardId} is another shard's`);
}

/**
 * Lets a shard know its ranges, and the ids of new rows follow the start of the last one: of all tables in one batch, and of tables that a
 * migration has made, at the next time. Sequences only rise, so that it is safe to repeat, at any time.
 *
 * Nothing happens in the database of another shard.
 */
export function startIdRanges(shardId: number, numbers: readonly number[]): SQL[] {
  const start = sql.raw(String(Math.max(...numbers) * IDS_PER_RANGE));
  const isThis = sql`not exists (select 1 from shard_copies where shard_id <> ${shardId})`;
  return [
    sql`
      insert into id_ranges (number, shard_id)
      select value, ${shardId} from json_each(${JSON.stringify(numbers)})
      where ${isThis}
      on conflict do nothing`,
    sql`
      update sqlite_sequence set seq = ${start}
      where seq < ${start} and name <> 'd1_migrations' and ${isThis}`,
    sql`
      insert into sqlite_sequence (name, seq)
      select name, ${start}
      from sqlite_master
      where type = 'table' and sql like '%autoincrement%'
        and name not in (select name from sqlite_sequence)
        and ${isThis}`,
  ];
}

/** Whether a shard has given an id itself. On the shard. */
export const isIdOfThisShard = (id: SQLWrapper): SQL =>
  sql`((${id} >> ${SHIFT}) in (select number from id_ranges))`;

/** A position before the next id that a shard has given itself: ranges of others are passed over. On the shard. */
export const nextOwnPosition = (after: SQLWrapper): SQL => sql`max(
  ${after},
  coalesce((
    select min(number) << ${SHIFT}
    from id_ranges
    where (number + 1) << ${SHIFT} > ${after}
  ), 0)
)`;
