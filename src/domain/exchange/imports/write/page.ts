import { and, type Column, eq, exists, getTableName, sql, type SQL, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

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

/** The stored item of a row of a page, in the statements of `freshItems`. */
export const freshItem = alias(foreignItems, "fresh");

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

/** A short digest that detects changes of an item. It is not cryptographic. */
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
 * @param table   The table of their rows.
 * @param isTaken Further condition over `item`.
 * @param present SQL for the id of a row that exists already and stands for the item; null for
 *   none.
 */
export function reserveIds(
  job: ImportJob,
  kind: ForeignItem["kind"],
  table: Table,
  rows: readonly PageRow[],
  { isTaken = sql`1`, present = sql`null` }: { isTaken?: SQL; present?: SQL } = {},
) {
  // Text, since the table is SQLite's own and has no schema.
  const last = sql`coalesce(
    (select seq from sqlite_sequence where name = ${getTableName(table)}), 0
  )`;
  return insertSelect(
    job.ctx.db,
    foreignItems,
    {
      repoId: job.repoId,
      kind,
      foreignId: field("foreignId"),
      localId: sql`coalesce(${present}, ${last} + row_number() over (order by item.key))`,
      revision: FRESH,
    },
    sql`
      from ${rowsOf(rows)}
      where ${localIdOf(job, kind, field("foreignId"))} is null and ${isTaken}`,
  ).onConflictDoNothing();
}

/**
 * The clauses `from … join …` over the items of a page that the batch reserves, as `item` and
 * `freshItem`.
 */
export const freshItems = (
  { repoId }: ImportJob,
  kind: ForeignItem["kind"],
  rows: readonly PageRow[],
): SQL => sql`
  from ${rowsOf(rows)}
  join ${foreignItems} ${freshItem}
    on ${and(isFreshItem(repoId, kind), eq(freshItem.revision, FRESH))}`;

/** The condition that `freshItem` is the stored item of `item`. */
export const isFreshItem = (repoId: number, kind: ForeignItem["kind"]) =>
  and(
    eq(freshItem.repoId, repoId),
    eq(freshItem.kind, kind),
    eq(freshItem.foreignId, field("foreignId")),
  );

const others = alias(foreignItems, "others");

/** The id here of another item, whose id elsewhere is `foreignId`; null if it was not taken. */
export const localIdOf = (
  { ctx: { db }, repoId }: ImportJob,
  kind: ForeignItem["kind"],
  foreignId: SQL,
): SQL =>
  sql`${db
    .select({ id: others.localId })
    .from(others)
    .where(
      and(eq(others.repoId, repoId), eq(others.kind, kind), eq(others.foreignId, foreignId)),
    )}`;

/** The condition that a row here was imported. */
export const isImported = (
  { ctx: { db }, repoId }: ImportJob,
  kind: ForeignItem["kind"],
  localId: Column,
): SQL =>
  exists(
    db
      .select({ id: others.localId })
      .from(others)
      .where(and(eq(others.repoId, repoId), eq(others.kind, kind), eq(others.localId, localId))),
  );

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
      and(
        eq(foreignItems.repoId, repoId),
        eq(foreignItems.kind, kind),
        eq(foreignItems.foreignId, field("foreignId")),
        row.options.since === undefined ? eq(foreignItems.revision, FRESH) : undefined,
      ),
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
