import { sql, type SQL } from "drizzle-orm";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import type { PrincipalSql } from "../../../auth/principal.ts";
import type { Params } from "../../../db/prepared.ts";
import { issues, repositories } from "../../../db/schema/index.ts";
import type { SearchParams } from "./bound-filter.ts";
import { bit, commonConditions, hasLabelOf } from "./conditions.ts";
import { PERSON_ROLES } from "./issue-query.ts";
import {
  type Candidates,
  EXAMINED_MAX,
  everyIssue,
  firstOfEach,
  firstOfLabels,
  issuesOfPerson,
  labelPairs,
  partsOf,
  seenOf,
} from "./search-candidates.ts";
import {
  columnsOfPart,
  type Searched,
  searchedOf,
  type SearchScope,
  seesSome,
} from "./search-scope.ts";
import { matchingIssueIds, scopeOfSome } from "./text-match.ts";

/**
 * Issues that a search sorts, counts or finds by words, at most; with the page, where it lists them
 * by age.
 */
export const FOUND_MAX = 1000;

/** Labels, or milestones, of a name that are looked at to tell whether the caller sees any. */
const NAMED_MAX = 5000;

/** The statements of a search for a caller. */
export interface SearchStatements {
  /**
   * Selects the ids of the first issues in the order of age: at least as many as a maximum, if
   * there are.
   */
  readonly find: (max: SearchMax) => SQL;
  /** Counts the issues that are found. */
  readonly count: (max: SearchMax) => SQL;
}

/** How many issues a statement finds at most. */
interface SearchMax {
  readonly all: SQL;
  /** Of those that are found by words; no more than `FOUND_MAX`. */
  readonly byWords: SQL;
}

/** What a search looks for and where. */
export interface WantedIssues {
  readonly filter: SearchParams;
  /** Whether the oldest issues are found first, rather than the newest. */
  readonly isOldest: boolean;
  readonly scope: Params<SearchScope>;
  /** A repository whose first issues are found in any case. */
  readonly priorityRepoId: SQL | undefined;
}

export function searchStatements(
  principal: PrincipalSql,
  { filter, isOldest, scope, priorityRepoId }: WantedIssues,
): SearchStatements {
  const searched = searchedOf(principal, scope);
  const common = [...commonConditions(filter).values()];
  const known = knownTables(principal, filter, searched);
  const { isPull, isClosed, text, labels, milestones, people } = filter;
  const search: Candidates = {
    principal,
    filter,
    conditions: [
      ...common,
      ...(labels ? [sql`(not (select is_known from known_labels) or ${hasLabelOf(labels)})`] : []),
      ...(milestones
        ? [
            sql`(not (select is_known from known_milestones) or exists (
              select 1 from milestones m
              where m.id = ${issues.milestoneId} and m.title in ${milestones}
            ))`,
          ]
        : []),
      ...(isPull === undefined ? [] : [sql`${issues.isPull} = ${bit(isPull)}`]),
      ...(isClosed === undefined ? [] : [sql`${issues.isClosed} = ${bit(isClosed)}`]),
      ...(searched.isScoped ? [sql`${issues.repoId} in (select id from searched)`] : []),
    ],
    isOldest,
  };
  const isPlain = text === undefined && common.length === 0 && known.length === 0;
  // Whether it is a list of all issues of its repositories, apart from labels and the like.
  const isListed = text === undefined && PERSON_ROLES.every((role) => !people[role]);
  const found = (max: SearchMax) => {
    const parts = [...mainIds(search, searched, max)];
    if (priorityRepoId !== undefined && isListed) {
      parts.push(prioritized(search, priorityRepoId, max.all));
    }
    return sql.join(
      parts.map((ids) => sql`select id from (${ids})`),
      sql` union `,
    );
  };
  const statement = (select: SQL): SQL => {
    const tables = [...(searched.table ? [searched.table] : []), ...known];
    return tables.length > 0 ? sql`with ${sql.join(tables, sql`, `)} ${select}` : select;
  };
  return {
    find: (max) => statement(found(max)),
    count: (max) => {
      if (isPlain && searched.isScoped) return sql`(${statement(countersOf(filter))})`;
      const select = sql`select count(*) from (${found(max)})`;
      return sql`(${statement(select)})`;
    },
  };
}

/** The selects of the issues that a search finds; D1 allows five. */
function* mainIds(
  search: Candidates,
  searched: Searched,
  { all: max, byWords }: SearchMax,
): Generator<SQL> {
  const { principal, filter, isOldest } = search;
  const { text, people, labels } = filter;
  const role = PERSON_ROLES.find((each) => people[each]);
  const named = role && people[role];
  const isEverywhere = !searched.isScoped && seesSome(principal);
  if (text !== undefined) {
    const matching = (scope: SQL | undefined) =>
      seenOf(search, matchingIssueIds(text, { scope, isOldest }), byWords);
    if (isEverywhere) yield matching(undefined);
    if (searched.table) yield matching(scopeOfSome(sql`select id from searched`));
  } else if (role && named) {
    yield seenOf(search, issuesOfPerson(search, role, named.first), max);
  } else if (isEverywhere || !searched.isScoped) {
    if (isEverywhere) yield seenOf(search, everyIssue(search), max);
    if (searched.table) yield firstOfEach(search, max);
  } else if (labels) {
    yield firstOfLabels(search, max);
    yield firstOfEach(search, max, sql`not (select is_known from known_labels)`);
  } else {
    yield firstOfEach(search, max);
  }
}

/** Selects the ids of the first matching issues of one repository. */
const prioritized = (search: Candidates, repoId: SQL, max: SQL): SQL => {
  const direction = sql.raw(search.isOldest ? "asc" : "desc");
  const ids = sql`
    select id from ${issues} where repo_id = ${repoId}
    order by number ${direction}
    limit ${EXAMINED_MAX}`;
  return seenOf(search, ids, max);
};

/**
 * Whether the caller sees a label, or a milestone, of one of the names: unknown names are ignored.
 */
function knownTables(
  principal: PrincipalSql,
  { labels, milestones }: SearchParams,
  { isScoped }: Searched,
): SQL[] {
  const tables: SQL[] = [];
  const seen = (table: SQL, isNamed: SQL, hasOwner: SQL) => sql`exists (
    select 1
    from (select * from ${table} where ${isNamed} limit ${NAMED_MAX}) named
    join ${repositories} on ${repositories.id} = named.repo_id ${hasOwner}
    where ${isRepositoryVisible(principal)}
  )`;
  if (labels) {
    if (isScoped) tables.push(labelPairs(labels));
    const isNamed = sql`name in ${labels}`;
    const hasOwner = sql`or ${repositories.ownerId} = named.org_id`;
    const isKnown = isScoped
      ? sql`exists (select 1 from pairs)`
      : seen(sql.raw("labels"), isNamed, hasOwner);
    tables.push(sql`known_labels as materialized (select ${isKnown} as is_known)`);
  }
  if (milestones) {
    const isTitled = sql`title in ${milestones}`;
    const isKnown = isScoped
      ? sql`exists (
          select 1 from searched join milestones on milestones.repo_id = searched.id
          where ${isTitled}
        )`
      : seen(sql.raw("milestones"), isTitled, sql``);
    tables.push(sql`known_milestones as materialized (select ${isKnown} as is_known)`);
  }
  return tables;
}

/** Sums the counters of the repositories `searched`. */
function countersOf(filter: SearchParams): SQL {
  const sums = partsOf(filter).map(({ isPull, isClosed }) => {
    const { count, isSeen } = columnsOfPart(isPull, isClosed);
    return sql`iif(${isSeen}, ${count}, 0)`;
  });
  return sql`select coalesce(sum(${sql.join(sums, sql` + `)}), 0) from searched`;
}
