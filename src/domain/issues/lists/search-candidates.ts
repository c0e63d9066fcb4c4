import { type Column, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { PrincipalSql } from "../../../auth/principal.ts";
import { allOf } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import {
  issueAssignees,
  issueLabels,
  issueMentions,
  issues,
  labels,
  pulls,
  repositories,
} from "../../../db/schema/index.ts";
import type { SearchParams } from "./bound-filter.ts";
import { bit, reviewed, reviewedBy, userIdOf } from "./conditions.ts";
import type { PersonRole } from "./issue-query.ts";
import { counterOfPart, isIssueSeen, isSeenIn, pairs, searched } from "./search-scope.ts";
import { flags, unionAll } from "./sources.ts";

/**
 * Maximum issues that are read in the order of an index, whether or not they match and the caller
 * sees them.
 */
export const EXAMINED_MAX = 20_000;

/** The options of all queries of a search. */
export interface CandidateOptions {
  readonly principal: PrincipalSql;
  readonly filter: SearchParams;
  /** Conditions on the `issues` rows of a query. */
  readonly conditions: readonly SQL[];
  readonly isOldest: boolean;
}

const directionOf = ({ isOldest }: CandidateOptions): SQL => sql.raw(isOldest ? "asc" : "desc");

/** The kinds and states of a filter, each with its own part of an index. */
export const partsOf = ({ isPull, isClosed }: SearchParams) =>
  flags(isPull).flatMap((kind) =>
    flags(isClosed).map((state) => ({ isPull: kind, isClosed: state })),
  );
type Part = ReturnType<typeof partsOf>[number];

/** The condition that a row is of a kind and a state. */
const isInPart = (
  table: { readonly isPull: Column; readonly isClosed: Column },
  { isPull, isClosed }: Part,
): SQL => sql`${table.isPull} = ${bit(isPull)} and ${table.isClosed} = ${bit(isClosed)}`;

/** The issues of a query, in its order. */
const ordered = derivedTable("ordered", "id");

/**
 * Selects the ids of the first issues that match and that the caller sees.
 *
 * @param ids Selects issues in the order of ids.
 */
export const seenOf = (search: CandidateOptions, ids: SQL, max: SQL): SQL => sql`
  select ${issues.id} as id
  from (${ids}) ${ordered}
  cross join ${issues} on ${issues.id} = ${ordered.id}
  cross join ${repositories} on ${repositories.id} = ${issues.repoId}
  where ${allOf(...search.conditions, isIssueSeen(search.principal, search.filter))}
  limit ${max}`;

const examined = (search: CandidateOptions, arms: readonly SQL[]): SQL => sql`
  select id from (
    ${unionAll(arms)}
    order by id ${directionOf(search)}
    limit ${EXAMINED_MAX}
  )`;

/** Selects the ids of all issues, newest or oldest first. */
export const everyIssue = (search: CandidateOptions): SQL =>
  examined(
    search,
    partsOf(search.filter).map(
      (part) => sql`select ${issues.id} from ${issues} where ${isInPart(issues, part)}`,
    ),
  );

/** Selects the ids of the issues that a user, whose name is given, has to do with. */
export function issuesOfPerson(search: CandidateOptions, role: PersonRole, name: SQL): SQL {
  const userId = userIdOf(name);
  if (role === "review_requested" || role === "reviewed") {
    const ids = reviewedBy(role, userId);
    const arms = partsOf(search.filter).flatMap(({ isPull, isClosed }) =>
      isPull
        ? [
            sql`
              select ${reviewed.issueId} as id
              from (${ids}) ${reviewed}
              cross join ${pulls} on ${pulls.issueId} = ${reviewed.issueId}
              where ${pulls.isClosed} = ${bit(isClosed)}`,
          ]
        : [],
    );
    return arms.length > 0
      ? examined(search, arms)
      : sql`select ${issues.id} from ${issues} where 0`;
  }
  const table = { poster: undefined, assignee: issueAssignees, mentioned: issueMentions }[role];
  const of = table
    ? sql`select ${table.issueId} as id from ${table} where ${table.userId} = ${userId}`
    : sql`select ${issues.id} from ${issues} where ${issues.posterId} = ${userId}`;
  return examined(
    search,
    partsOf(search.filter).map((part) => sql`${of} and ${isInPart(table ?? issues, part)}`),
  );
}

const listed = alias(issues, "listed");

/**
 * Selects the ids of the first matching issues of each of the repositories `searched`.
 *
 * @param isSearched A condition without which there are none.
 */
export const firstOfEach = (search: CandidateOptions, max: SQL, isSearched: SQL = sql`1`): SQL =>
  unionAll(
    partsOf(search.filter).map((part) => {
      const count = counterOfPart(part.isPull, part.isClosed);
      const newest = sql`
        select ${issues.id} from ${issues}
        where ${issues.repoId} = ${searched.id} and ${isInPart(issues, part)}
        order by ${issues.number} ${directionOf(search)}
        limit ${EXAMINED_MAX}`;
      return sql`
        select ${listed.id} as id
        from ${searched}
        cross join ${issues} ${listed} on ${listed.id} in (${firstOf(search, newest, max)})
        where ${count} > 0 and ${isSeenIn(searched, part.isPull)} and ${isSearched}`;
    }),
  );

const firstOf = (search: CandidateOptions, ids: SQL, max: SQL): SQL => sql`
  select ${issues.id}
  from (${ids}) ${ordered}
  cross join ${issues} on ${issues.id} = ${ordered.id}
  where ${allOf(...search.conditions)}
  limit ${max}`;

/** Defines `pairs` for the labels of some names. */
export const labelPairs = (names: SQL): SQL => sql`
  ${pairs} as materialized (
    select ${labels.id} as label_id, ${labels.repoId}, ${searched.seesIssues}, ${searched.seesPulls}
    from ${searched} join ${labels} on ${labels.repoId} = ${searched.id}
    where ${labels.name} in ${names}
    union all
    select ${labels.id}, ${searched.id}, ${searched.seesIssues}, ${searched.seesPulls}
    from ${searched} join ${labels} on ${labels.orgId} = ${searched.ownerId}
    where ${labels.name} in ${names}
  )`;

/** Selects the ids of the first matching issues with each of the labels of `pairs`. */
export const firstOfLabels = (search: CandidateOptions, max: SQL): SQL =>
  unionAll(
    partsOf(search.filter).map((part) => {
      const labelled = sql`
        select ${issueLabels.issueId} as id from ${issueLabels}
        where ${issueLabels.labelId} = ${pairs.labelId}
          and ${issueLabels.repoId} = ${pairs.repoId}
          and ${isInPart(issueLabels, part)}
        order by ${issueLabels.issueId} ${directionOf(search)}
        limit ${EXAMINED_MAX}`;
      return sql`
        select ${listed.id} as id
        from ${pairs}
        cross join ${issues} ${listed} on ${listed.id} in (${firstOf(search, labelled, max)})
        where ${isSeenIn(pairs, part.isPull)}`;
    }),
  );
