import { type SQL, sql } from "drizzle-orm";

import { issues } from "../../../db/schema/index.ts";
import type { IssueSort } from "./issue-query.ts";

/**
 * The columns that sort a list within one repository. Each is followed by the id, in the same
 * direction.
 */
const KEYS = {
  newest: issues.number,
  oldest: issues.number,
  recentupdate: issues.updatedAt,
  leastupdate: issues.updatedAt,
  mostcomment: issues.commentCount,
  leastcomment: issues.commentCount,
  nearduedate: issues.deadlineAt,
  farduedate: issues.deadlineAt,
  recentclose: issues.closedAt,
} as const satisfies Record<IssueSort, unknown>;

/** An order of a list, which an index of each state and kind gives. */
export interface ListOrder {
  readonly key: (typeof KEYS)[IssueSort];
  /** The direction that follows the key of a row in `order by`. */
  readonly direction: SQL;
  readonly isDescending: boolean;
  /** Whether it is the order in which issues were opened, which is the order of their ids. */
  readonly isByAge: boolean;
}

const DESCENDING: ReadonlySet<IssueSort> = new Set([
  "newest",
  "recentupdate",
  "mostcomment",
  "farduedate",
  "recentclose",
]);

export function orderOf(sort: IssueSort): ListOrder {
  const isDescending = DESCENDING.has(sort);
  // The other columns are never null, and descending orders end with nulls anyway.
  const direction = sql.raw(
    isDescending ? "desc" : sort === "nearduedate" ? "asc nulls last" : "asc",
  );
  return {
    key: KEYS[sort],
    direction,
    isDescending,
    isByAge: sort === "newest" || sort === "oldest",
  };
}

/** The terms of `order by` for rows of `issues`. */
export const termsOf = ({ key, direction, isDescending }: ListOrder): SQL[] => [
  sql`${key} ${direction}`,
  sql`${issues.id} ${sql.raw(isDescending ? "desc" : "asc")}`,
];
