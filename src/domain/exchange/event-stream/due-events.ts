import { sql, type SQL } from "drizzle-orm";

import { events, type EventRow } from "../../../db/schema/index.ts";

// What the jobs have in common that handle the events of each repository in order, under leases.

/** Events leased at once. */
export const LEASED_MAX = 50;

/**
 * The condition for the first due events, but for none behind an event of its repository that is
 * not due yet.
 *
 * @param column When an event is due for the job, or until when it is leased; null once it is
 *   handled.
 * @param now    In milliseconds.
 */
export function isDueInOrder(column: "dispatch_at" | "consequences_at", now: SQL): SQL {
  const at = sql.raw(column);
  const isDue = sql`e.${at} is not null and e.${at} <= ${now}`;
  const isBehind = sql`exists (
    select 1
    from ${events} x
    where x.repo_id = e.repo_id
      and x.id < e.id
      and x.${at} is not null
      and x.${at} > ${now}
  )`;
  return sql`${events.id} in (
    select e.id
    from ${events} e
    where ${isDue} and not ${isBehind}
    order by e.id
    limit ${LEASED_MAX}
  )`;
}

/** Leased events in the order in which they happened. */
export const inOrder = <T extends EventRow>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => a.id - b.id);

/**
 * Groups work by repository, in random order: if the work of one ends the process, others may come
 * before it the next time.
 */
export const byRepository = <T extends { readonly row: EventRow }>(works: readonly T[]): T[][] =>
  [...Map.groupBy(works, ({ row }) => row.repoId).values()]
    .map((group) => ({ group, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ group }) => group);
