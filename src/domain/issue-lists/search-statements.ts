import { principalOf } from "../../auth/principal.ts";
import { sql, type SQL } from "drizzle-orm";

import { isRepositoryVisible } from "../../auth/access/visible-repositories.ts";
import type { Actor } from "../../auth/actor.ts";
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
import { hasText, matchingIssueIds, scopeOfSome } from "./text-match.ts";

/** Issues that a search sorts, counts or finds by words, at most; with the page, where it lists them by age. */
export const FOUND_MAX = 1000;

/** Labels, or milestones, of a name that are looked at to tell whether the caller sees any. */
const NAMED_MAX = 5000;

/** The statements of a search for a caller. */
export interface SearchStatements {
  /** Selects the ids of the first issues in the order of age: at least as many as a maximum, if there are. */
  readonly find: (max: number) => SQL;
  /** Counts the issues that are found. */
  readonly count: (max: number) => SQL;
}

/** @param priorityRepoId A repository whose first issues are found in any case. */
export function searchStatements(
  actor: Actor,
  filter: IssueFilter,
  scope: SearchScope,
  priorityRepoId: number | undefined,
): SearchStatements {
  const args = new Arguments();
  const searched = searchedOf(actor, scope);
  const common = [...commonConditions(args, filter).values()];
  const known = knownTables(args, actor, filter, searched);
  const { isPull, isClosed } = filter;
  const search: Candidates = {
    args,
    actor,
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
  };
  const isPlain = !hasText(filter) && common.length === 0 && known.length === 0;
  const found = (max: number) => {
    const parts = [...mainIds(search, searched, max)];
    if (priorityRepoId !== undefined && isListed(filter)) {
      parts.push(prioritized(search, priorityRepoId, max));
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
  };
}

/** Whether a search is a list of all issues of its repositories, apart from labels and the like. */
const isListed = (filter: IssueFilter): boolean => !hasText(filter) && filter.people.length === 0;

/** The selects of the issues that a search finds; D1 allows five. */
function* mainIds(search: Candidates, searched: Searched, max: number): Generator<SQL> {
  const { actor, filter, isOldest } = search;
  const [person] = filter.people;
  const isEverywhere = !searched.isScoped && seesSome(actor);
  if (hasText(filter)) {
    const found = Math.min(max, FOUND_MAX);
    const matching = (scope: SQL | undefined) =>
      seenOf(search, matchingIssueIds(filter, { scope, isOldest }), found);
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
const prioritized = (search: Candidates, repoId: number, max: number): SQL => {
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
  actor: Actor,
  filter: IssueFilter,
  { isScoped }: Searched,
): SQL[] {
  const tables: SQL[] = [];
  const seen = (table: SQL, isNamed: SQL, hasOwner: SQL) => sql`exists (
    select 1
    from (select * from ${table} where ${isNamed} limit ${integer(NAMED_MAX)}) named
    join ${repositories} on ${repositories.id} = named.repo_id ${hasOwner}
    where ${withIntegers(isRepositoryVisible(principalOf(actor)))}
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
