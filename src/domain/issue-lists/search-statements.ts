import { sql, type SQL } from "drizzle-orm";

import { isRepositoryVisible } from "../../auth/access/visible-repositories.ts";
import type { PrincipalSql } from "../../auth/principal.ts";
import { issues, repositories } from "../../db/schema/index.ts";
import { Arguments, bit, integer, withIntegers } from "./arguments.ts";
import { commonConditions, hasLabelOf } from "./conditions.ts";
import type { IssueFilter } from "./issue-query.ts";
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

/** Issues that a search sorts, counts or finds by words, at most; with the page, where it lists them by age. */
export const FOUND_MAX = 1000;

/** Labels, or milestones, of a name that are looked at to tell whether the caller sees any. */
const NAMED_MAX = 5000;

/** The statements of a search for a caller. */
export interface SearchStatements {
  /** Selects the ids of the first issues in the order of age: at least as many as a maximum, if there are. */
  readonly find: (max: SearchMax) => SQL;
  /** Counts the issues that are found. */
  readonly count: (max: SearchMax) => SQL;
  /** Whether the caller sees a label of the filter's names here, or a milestone; undefined for a filter without. */
  readonly isKnown: (kind: NamedKind) => SQL | undefined;
}

/** Kinds of names that a filter ignores where the caller sees none of them. */
export const NAMED_KINDS = ["labels", "milestones"] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];

/** How many issues a statement finds at most: values, or parameters of a prepared statement. */
interface SearchMax {
  readonly all: number | SQL;
  /** Of those that are found by words; no more than `FOUND_MAX`. */
  readonly byWords: number | SQL;
}

/** What a search looks for and where. */
export interface WantedIssues {
  readonly filter: IssueFilter;
  /** The words of the filter, as `searchTextOf` returns them; undefined without any. */
  readonly text: string | SQL | undefined;
  readonly scope: SearchScope;
  /** A repository whose first issues are found in any case. */
  readonly priorityRepoId: number | SQL | undefined;
  /** Whether repositories' own data is in several databases. */
  readonly isAmongMany: boolean;
}

export function searchStatements(
  principal: PrincipalSql,
  { filter, text, scope, priorityRepoId, isAmongMany }: WantedIssues,
): SearchStatements {
  const args = new Arguments();
  const searched = searchedOf(principal, scope);
  const common = [...commonConditions(args, filter).values()];
  const known = knownTables(args, principal, filter, searched);
  const { isPull, isClosed } = filter;
  const search: Candidates = {
    args,
    principal,
    filter,
    conditions: [
      ...common,
      ...(filter.labels.length > 0
        ? [sql`(not (select is_known from known_labels) or ${hasLabelOf(args, filter.labels)})`]
        : []),
      ...(filter.milestones.length > 0
        ? [
            sql`(not (select is_known from known_milestones) or exists (
              select 1 from milestones m
              where m.id = ${issues.milestoneId} and m.title in ${args.list(filter.milestones)}
            ))`,
          ]
        : []),
      ...(isPull === undefined ? [] : [sql`${issues.isPull} = ${bit(isPull)}`]),
      ...(isClosed === undefined ? [] : [sql`${issues.isClosed} = ${bit(isClosed)}`]),
      ...(searched.isScoped ? [sql`${issues.repoId} in (select id from searched)`] : []),
    ],
    isOldest: filter.sort === "oldest",
    isAmongMany,
  };
  const isPlain = text === undefined && common.length === 0 && known.length === 0;
  // Whether it is a list of all issues of its repositories, apart from labels and the like.
  const isListed = text === undefined && filter.people.length === 0;
  const found = (max: SearchMax) => {
    const parts = [...mainIds(search, text, searched, max)];
    if (priorityRepoId !== undefined && isListed) {
      parts.push(prioritized(search, priorityRepoId, max.all));
    }
    return sql.join(
      parts.map((ids) => sql`select id from (${ids})`),
      sql` union `,
    );
  };
  const statement = (select: SQL): SQL => {
    const tables = [args.table(), ...(searched.table ? [searched.table] : []), ...known];
    return sql`with ${sql.join(tables, sql`, `)} ${select}`;
  };
  return {
    // `found` registers the texts that the head contains.
    find: (max) => {
      const select = found(max);
      return statement(select);
    },
    count: (max) => {
      if (isPlain && searched.isScoped) return sql`(${statement(countersOf(filter))})`;
      const select = sql`select count(*) from (${found(max)})`;
      return sql`(${statement(select)})`;
    },
    isKnown: (kind) =>
      filter[kind].length > 0
        ? sql`(${statement(sql`select is_known from ${sql.raw(`known_${kind}`)}`)})`
        : undefined,
  };
}

/** The selects of the issues that a search finds; D1 allows five. */
function* mainIds(
  search: Candidates,
  text: string | SQL | undefined,
  searched: Searched,
  { all: max, byWords }: SearchMax,
): Generator<SQL> {
  const { principal, filter, isOldest, isAmongMany } = search;
  const [person] = filter.people;
  const isEverywhere = !searched.isScoped && seesSome(principal);
  if (text !== undefined) {
    const matching = (scope: SQL | undefined) =>
      seenOf(search, matchingIssueIds(text, { scope, isOldest, isAmongMany }), byWords);
    if (isEverywhere) yield matching(undefined);
    if (searched.table) yield matching(scopeOfSome(sql`select id from searched`));
  } else if (person) {
    yield seenOf(search, issuesOfPerson(search, person), max);
  } else if (isEverywhere || !searched.isScoped) {
    if (isEverywhere) yield seenOf(search, everyIssue(search), max);
    if (searched.table) yield firstOfEach(search, max);
  } else if (filter.labels.length > 0) {
    yield firstOfLabels(search, max);
    yield firstOfEach(search, max, sql`not (select is_known from known_labels)`);
  } else {
    yield firstOfEach(search, max);
  }
}

/** Selects the ids of the first matching issues of one repository. */
const prioritized = (search: Candidates, repoId: number | SQL, max: number | SQL): SQL => {
  const direction = sql.raw(search.isOldest ? "asc" : "desc");
  const ids = sql`
    select id from ${issues} where repo_id = ${integer(repoId)}
    order by number ${direction}
    limit ${integer(EXAMINED_MAX)}`;
  return seenOf(search, ids, max);
};

/** Whether the caller sees a label, or a milestone, of one of the names: unknown names are ignored. */
function knownTables(
  args: Arguments,
  principal: PrincipalSql,
  filter: IssueFilter,
  { isScoped }: Searched,
): SQL[] {
  const tables: SQL[] = [];
  const seen = (table: SQL, isNamed: SQL, hasOwner: SQL) => sql`exists (
    select 1
    from (select * from ${table} where ${isNamed} limit ${integer(NAMED_MAX)}) named
    join ${repositories} on ${repositories.id} = named.repo_id ${hasOwner}
    where ${withIntegers(isRepositoryVisible(principal))}
  )`;
  if (filter.labels.length > 0) {
    if (isScoped) tables.push(labelPairs(args, filter.labels));
    const isNamed = sql`name in ${args.list(filter.labels)}`;
    const hasOwner = sql`or ${repositories.ownerId} = named.org_id`;
    const isKnown = isScoped
      ? sql`exists (select 1 from pairs)`
      : seen(sql.raw("labels"), isNamed, hasOwner);
    tables.push(sql`known_labels as materialized (select ${isKnown} as is_known)`);
  }
  if (filter.milestones.length > 0) {
    const isTitled = sql`title in ${args.list(filter.milestones)}`;
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
function countersOf(filter: IssueFilter): SQL {
  const sums = partsOf(filter).map(({ isPull, isClosed }) => {
    const { count, isSeen } = columnsOfPart(isPull, isClosed);
    return sql`iif(${isSeen}, ${count}, 0)`;
  });
  return sql`select coalesce(sum(${sql.join(sums, sql` + `)}), 0) from searched`;
}
