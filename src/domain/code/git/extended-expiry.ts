import { type SQL, sql } from "drizzle-orm";

import { repositories, type RepositoryExpiry } from "../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * How long before its end the end of a repository is announced, in milliseconds: a day, or a tenth
 * of its span if that is shorter.
 */
export const noticeMs = (spanMs: number): number => Math.min(DAY_MS, Math.floor(spanMs / 10));

/**
 * The end of a repository as a push leaves it, for an update of its row.
 *
 * @param at When it was pushed, in milliseconds.
 */
export function extendedExpiry(at: SQL): SQL<RepositoryExpiry> {
  const { expiry } = repositories;
  // Whole numbers: D1 binds them as floats, which JSON would show.
  const extensionMs = sql`cast(${expiry} ->> '$.extensionMs' as integer)`;
  const end = sql`(cast(${at} as integer) + ${extensionMs})`;
  const notice = sql`cast(${end} - min(${DAY_MS}, ${extensionMs} / 10) as integer)`;
  return sql`case
    when ${expiry} ->> '$.extensionMs' is not null and ${expiry} ->> '$.expiresAt' < ${end}
    then json_set(${expiry}, '$.expiresAt', ${end}, '$.checkAt', ${notice})
    else ${expiry}
  end`;
}
