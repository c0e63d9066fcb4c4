import { sql, type SQL } from "drizzle-orm";

import type { PrincipalSql } from "../../../auth/principal.ts";
import { allOf } from "../../../db/db.ts";
import {
  issueAssignees,
  issueLabels,
  issueMentions,
  issues,
  pulls,
  repositories,
} from "../../../db/schema/index.ts";
import type { SearchParams } from "./bound-filter.ts";
import { bit, reviewedBy, userIdOf } from "./conditions.ts";
import type { PersonRole } from "./issue-query.ts";
import { columnsOfPart, isIssueSeen } from "./search-scope.ts";
import { flags, unionAll } from "./sources.ts";

/**
 * Issues that are looked at in the order of an index, whether or not they match and the caller sees
 * them.
 */
export const EXAMINED_MAX = 20_000;

/** What the candidates of a search have in common. */
export interface Candidates {
  readonly principal: PrincipalSql;
  readonly filter: SearchParams;
  /** Conditions on the `issues` rows of a query. */
  readonly conditions: readonly SQL[];
  readonly isOldest: boolean;
}

const directionOf = ({ isOldest }: Candidates): SQL => sql.raw(isOldest ? "asc" : "desc");

/** The kinds and states of a filter, each with its own part of an index. */
export const partsOf = ({ isPull, isClosed }: SearchParams) =>
  flags(isPull).flatMap((kind) =>
    flags(isClosed).map((state) => ({ isPull: kind, isClosed: state })),
  );
type Part = ReturnType<typeof partsOf>[number];

const isInPart = ({ isPull, isClosed }: Part): SQL =>
  sql`is_pull = ${bit(isPull)} and is_closed = ${bit(isClosed)}`;

/**
 * Selects the ids of the first issues, of those that a query selects in the order of ids, which
 * match and which the caller sees.
 */
export const seenOf = (search: Candidates, ids: SQL, max: SQL): SQL => sql`
  select ${issues.id} as id
  from (${ids}) candidate
  cross join ${issues} on ${issues.id} = candidate.id
  cross join ${repositories} on ${repositories.id} = ${issues.repoId}
  where ${allOf(...search.conditions, isIssueSeen(search.principal, search.filter))}
  limit ${max}`;

const examined = (search: Candidates, arms: readonly SQL[]): SQL => sql`
  select id from (
    ${unionAll(arms)}
    order by id ${directionOf(search)}
    limit ${EXAMINED_MAX}
  )`;

/** Selects the ids of all issues, newest or oldest first. */
export const everyIssue = (search: Candidates): SQL =>
  examined(
    search,
    partsOf(search.filter).map((part) => sql`select id from ${issues} where ${isInPart(part)}`),
  );

/** Selects the ids of the issues that a user, whose name is given, has to do with. */
export function issuesOfPerson(search: Candidates, role: PersonRole, name: SQL): SQL {
  const userId = userIdOf(name);
  if (role === "review_requested" || role === "reviewed") {
    const ids = reviewedBy(role, userId);
    const arms = partsOf(search.filter).flatMap(({ isPull, isClosed }) =>
      isPull
        ? [
            sql`
              select reviewed.issue_id as id
              from (${ids}) reviewed cross join ${pulls} on ${pulls.issueId} = reviewed.issue_id
              where ${pulls.isClosed} = ${bit(isClosed)}`,
          ]
        : [],
    );
    return arms.length > 0 ? examined(search, arms) : sql`select id from ${issues} where 0`;
  }
  const table = { poster: undefined, assignee: issueAssignees, mentioned: issueMentions }[role];
  const of = table
    ? sql`select issue_id as id from ${table} where user_id = ${userId}`
    : sql`select id from ${issues} where poster_id = ${userId}`;
  return examined(
    search,
    partsOf(search.filter).map((part) => sql`${of} and ${isInPart(part)}`),
  );
}

/**
 * Selects the ids of the first matching issues of each of the repositories `searched`.
 *
 * @param isSearched A condition without which there are none.
 */
export const firstOfEach = (search: Candidates, max: SQL, isSearched: SQL = sql`1`): SQL =>
  unionAll(
    partsOf(search.filter).map((part) => {
      const { count, isSeen } = columnsOfPart(part.isPull, part.isClosed);
      const newest = sql`
        select id as examined_id from ${issues}
        where repo_id = searched.id and ${isInPart(part)}
        order by number ${directionOf(search)}
        limit ${EXAMINED_MAX}`;
      return sql`
        select listed.id as id
        from searched
        cross join ${issues} listed on listed.id in (${firstOf(search, newest, max)})
        where ${count} > 0 and ${isSeen} and ${isSearched}`;
    }),
  );

const firstOf = (search: Candidates, examinedIds: SQL, max: SQL): SQL => sql`
  select ${issues.id}
  from (${examinedIds}) cross join ${issues} on ${issues.id} = examined_id
  where ${allOf(...search.conditions)}
  limit ${max}`;

/**
 * The common table expression `pairs`: the labels of some names, as `label_id`, with each of the
 * repositories `searched`, as `repo_id`, whose issues may have them.
 */
export const labelPairs = (names: SQL): SQL => sql`
  pairs as materialized (
    select labels.id as label_id, labels.repo_id, sees_0, sees_1
    from searched join labels on labels.repo_id = searched.id
    where labels.name in ${names}
    union all
    select labels.id, searched.id, sees_0, sees_1
    from searched join labels on labels.org_id = searched.owner_id
    where labels.name in ${names}
  )`;

/** Selects the ids of the first matching issues with each of the labels of `pairs`. */
export const firstOfLabels = (search: Candidates, max: SQL): SQL =>
  unionAll(
    partsOf(search.filter).map((part) => {
      const labelled = sql`
        select issue_id as examined_id from ${issueLabels}
        where label_id = pairs.label_id and repo_id = pairs.repo_id and ${isInPart(part)}
        order by issue_id ${directionOf(search)}
        limit ${EXAMINED_MAX}`;
      return sql`
        select listed.id as id
        from pairs
        cross join ${issues} listed on listed.id in (${firstOf(search, labelled, max)})
        where ${columnsOfPart(part.isPull, part.isClosed).isSeen}`;
    }),
  );
