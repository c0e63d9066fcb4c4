import { sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import type { PrincipalSql } from "../../../auth/principal.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { notifications, type NotificationStatus } from "../../../db/schema/index.ts";
import {
  wordSql,
  visibleCounts,
  type NotificationKinds,
  type NotificationRangeSql,
  type NotificationSubjectKind,
} from "./notification-filter.ts";

/** Queries that one compound query combines: D1 refuses more than five. */
const TERMS_MAX = 4;
/** Later than every time. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** The values that all ranges of a page compare with, as one row. */
const bounds = derivedTable("bounds", "userId", "repoId", "since", "before", "size");

/** The repositories and subjects that `visibleCounts` selects. */
export const visible = derivedTable("visible", "repoId", "subject");

/**
 * Selects the `id` and `repo_id` of a page of visible notifications, last updated first.
 *
 * Each status and subject is one range of an index in the order of the list, of which no more is
 * read than the page needs; the ranges are merged. The values that all of them compare with are
 * bound once, in `bounds`.
 *
 * Cost: rows of counters, and of each range those up to the end of the page.
 */
export function selectPage(
  principal: PrincipalSql,
  range: NotificationRangeSql,
  kinds: NotificationKinds,
  { size, offset }: { size: number | SQL; offset: number | SQL },
): SQL {
  const { userId, repoId, since = 0, before = NEVER } = range;
  const ranges = kinds.statuses.flatMap((status) =>
    kinds.subjects.map((subject) => selectRange(status, subject, repoId !== undefined)),
  );
  return sql`(
    with ${bounds} as (
      select ${userId} as user_id, ${repoId ?? null} as repo_id, ${since} as since,
        ${before} as before, ${size} + ${offset} as size
    ),
    ${visible} as materialized (${visibleCounts(principal, range, kinds)})
    select id, repo_id
    from (${merge(ranges)})
    order by updated_at desc, id desc
    limit ${size} offset ${offset}
  )`;
}

const boundOf = (bound: SQLiteColumn): SQL => sql`(select ${bound} from ${bounds})`;

const LIMITED = sql`
  order by updated_at desc, id desc
  limit ${boundOf(bounds.size)}`;

function selectRange(
  status: NotificationStatus,
  subject: NotificationSubjectKind,
  isOfRepository: boolean,
): SQL {
  const isInRepository = isOfRepository
    ? sql`and ${notifications.repoId} = ${boundOf(bounds.repoId)}`
    : sql``;
  return sql`
    select ${notifications.id} as id, ${notifications.repoId} as repo_id,
      ${notifications.updatedAt} as updated_at
    from ${notifications}
    where ${notifications.userId} = ${boundOf(bounds.userId)}
      ${isInRepository}
      and ${notifications.status} = ${wordSql(status)}
      and ${notifications.subject} = ${wordSql(subject)}
      and ${notifications.updatedAt} >= ${boundOf(bounds.since)}
      and ${notifications.updatedAt} < ${boundOf(bounds.before)}
      and ${notifications.repoId} in (
        select ${visible.repoId} from ${visible} where ${visible.subject} = ${wordSql(subject)}
      )
    ${LIMITED}`;
}

/** Merges queries in the order of the list. */
function merge(queries: readonly SQL[]): SQL {
  const [first, ...others] = queries;
  if (first && others.length === 0) return first;
  const groups: SQL[] = [];
  for (let at = 0; at < queries.length; at += TERMS_MAX) {
    const terms = queries.slice(at, at + TERMS_MAX).map((query) => sql`select * from (${query})`);
    groups.push(sql`${sql.join(terms, sql` union all `)} ${LIMITED}`);
  }
  return merge(groups);
}
