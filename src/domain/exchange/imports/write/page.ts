import { sql, type SQL } from "drizzle-orm";

import { insertSelect } from "../../../../db/insert-select.ts";
import { type ForeignItem, foreignItems } from "../../../../db/schema/index.ts";
import type { ImportJob } from "../import-job.ts";

/** An item of a page, as it goes into statements. */
export interface PageRow {
  readonly foreignId: string;
  readonly revision: string;
}

/** The revision of an item until the batch that takes it has written all that belongs to it. */
const FRESH = "*";

/** Bytes of JSON in one statement: a bound value of D1 has 2 MB at most. */
const PAGE_BYTES_MAX = 600_000;

/** The rows of a page in a statement, as `item`. */
export const rowsOf = (rows: readonly object[]): SQL =>
  sql`json_each(${JSON.stringify(rows)}) item`;

/** A field of `item`. */
export const field = (name: string): SQL => sql`(item.value ->> ${name})`;

/** The part of a page that fits into statements. Items are cut where they alone do not. */
export function inParts<T extends object>(rows: readonly T[]): T[][] {
  const parts: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const size = JSON.stringify(row).length * 2;
    if (bytes + size > PAGE_BYTES_MAX) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(row);
    bytes += size;
  }
  return parts;
}

/**
 * A short digest of what an item says, by which its changes are noticed; no protection against
 * anybody.
 */
export function digestOf(text: string): string {
  let hash = 0;
  for (const char of text) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) | 0;
  return String(hash >>> 0);
}

/**
 * Characters of a text that is taken: with what goes with it, it must fit into a bound value of D1.
 */
const TEXT_LENGTH_MAX = 200_000;

/** A text as it is stored: without lone surrogates and NUL, and cut where it is too long. */
export function toStoredText(job: ImportJob, text: string, name: string): string {
  const whole = text.toWellFormed().replaceAll("\0", "\uFFFD");
  if (whole.length <= TEXT_LENGTH_MAX) return whole;
  job.note(`the text of ${name} is longer than ${TEXT_LENGTH_MAX} characters and was cut`);
  return whole.slice(0, TEXT_LENGTH_MAX).toWellFormed();
}

/**
 * Reserves ids for the items of a page that were not taken before. Their rows are found as
 * `freshItems` until `settleItems`.
 *
 * @param table   The SQL name of the table that they go into.
 * @param isTaken Further condition over `item`.
 * @param present SQL for the id of a row that is there already, and is taken for the item; null for
 *   none.
 */
export function reserveIds(
  { ctx: { db }, repoId }: ImportJob,
  kind: ForeignItem["kind"],
  table: string,
  rows: readonly PageRow[],
  { isTaken = sql`1`, present = sql`null` }: { isTaken?: SQL; present?: SQL } = {},
) {
  const last = sql`coalesce((select seq from sqlite_sequence where name = ${table}), 0)`;
  return insertSelect(
    db,
    foreignItems,
    {
      repoId,
      kind,
      foreignId: field("foreignId"),
      localId: sql`coalesce(${present}, ${last} + row_number() over (order by item.key))`,
      revision: FRESH,
    },
    sql`
      from ${rowsOf(rows)}
      where not exists (
        select 1
        from foreign_items known
        where known.repo_id = ${repoId} and known.kind = ${kind}
          and known.foreign_id = ${field("foreignId")}
      ) and ${isTaken}`,
  ).onConflictDoNothing();
}

/**
 * The clauses `from … join …` over the items of a page that the batch reserves, as `item` and
 * `fresh`.
 */
export const freshItems = (
  { repoId }: ImportJob,
  kind: ForeignItem["kind"],
  rows: readonly PageRow[],
): SQL => sql`
  from ${rowsOf(rows)}
  join foreign_items fresh
    on fresh.repo_id = ${repoId} and fresh.kind = ${kind}
      and fresh.foreign_id = ${field("foreignId")} and fresh.revision = ${FRESH}`;

/** The id here of another item, whose id elsewhere is `foreignId`; null if it was not taken. */
export const localIdOf = (
  { repoId }: ImportJob,
  kind: ForeignItem["kind"],
  foreignId: SQL,
): SQL => sql`(
  select other.local_id
  from foreign_items other
  where other.repo_id = ${repoId} and other.kind = ${kind} and other.foreign_id = ${foreignId}
)`;

/** The statement that ends the taking of a page's items. */
export const settleItems = (
  { ctx: { db }, repoId, row }: ImportJob,
  kind: ForeignItem["kind"],
  rows: readonly PageRow[],
) =>
  db
    .update(foreignItems)
    .set({ revision: field("revision") })
    .from(rowsOf(rows))
    .where(
      sql`${foreignItems.repoId} = ${repoId} and ${foreignItems.kind} = ${kind}
        and ${foreignItems.foreignId} = ${field("foreignId")}
        and (${foreignItems.revision} = ${FRESH} or ${row.wishes.since !== undefined})`,
    );

/** The first of the items with each number, which two issues of a forge never share. */
export function withoutSharedNumbers<T extends { readonly number: number }>(
  job: ImportJob,
  rows: readonly T[],
): T[] {
  const numbers = new Set<number>();
  return rows.filter(({ number }) => {
    const isFirst = numbers.size < numbers.add(number).size;
    if (!isFirst) job.note(`a second issue ${number} was left out`);
    return isFirst;
  });
}

/** The last of the items with each id: a page of a forge may repeat one. */
export const withoutRepeats = <T extends { readonly foreignId: string }>(
  rows: readonly T[],
): T[] => [...new Map(rows.map((row) => [row.foreignId, row])).values()];
