import { sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { events, type EventRow } from "../../../db/schema/index.ts";

// Shared by the jobs that handle the events of each repository in order, under leases.

/** Events leased at once. */
export const LEASED_MAX = 50;

const due = alias(events, "due");
const earlier = alias(events, "earlier");

/**
 * The condition for the first due events. An event waits while an earlier one of its repository is
 * not due yet: leased, or postponed. One that never was is due, whatever the clock of the machine
 * that recorded it.
 *
 * @param column When an event is due for the job, or until when it is leased; null once it is
 *   handled.
 * @param now    In milliseconds.
 */
export function isDueInOrder(column: "dispatchAt" | "consequencesAt", now: SQL): SQL {
  const isDue = sql`${due[column]} is not null
    and (${due[column]} <= ${now} or ${due[column]} <= ${due.createdAt})`;
  const isBehind = sql`exists (
    select 1
    from ${events} ${earlier}
    where ${earlier.repoId} = ${due.repoId}
      and ${earlier.id} < ${due.id}
      and ${earlier[column]} > ${earlier.createdAt}
      and ${earlier[column]} > ${now}
  )`;
  return sql`${events.id} in (
    select ${due.id}
    from ${events} ${due}
    where ${isDue} and not ${isBehind}
    order by ${due.id}
    limit ${LEASED_MAX}
  )`;
}

/** Leased events in the order in which they happened. */
export const inOrder = <T extends EventRow>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => a.id - b.id);

/**
 * Groups work by repository, in random order: a repository whose work ends the process does not
 * keep the others from being reached by a later run.
 */
export const byRepository = <T extends { readonly row: EventRow }>(works: readonly T[]): T[][] =>
  [...Map.groupBy(works, ({ row }) => row.repoId).values()]
    .map((group) => ({ group, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ group }) => group);
