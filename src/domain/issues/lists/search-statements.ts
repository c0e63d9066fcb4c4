import { sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import type { PrincipalSql } from "../../../auth/principal.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import type { Params } from "../../../db/prepared.ts";
import {
  issues,
  labels as labelTable,
  milestones as milestoneTable,
  repositories,
} from "../../../db/schema/index.ts";
import type { SearchParams } from "./bound-filter.ts";
import { bit, commonConditions, hasLabelOf } from "./conditions.ts";
import { PERSON_ROLES } from "./issue-query.ts";
import {
  type CandidateOptions,
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
  counterOfPart,
  isSeenIn,
  pairs,
  searched,
  type SearchTargets,
  searchTargetsOf,
  type SearchScope,
  seesSome,
} from "./search-scope.ts";
import { matchingIssueIds, scopeOfSome } from "./text-match.ts";

/**
 * Issues that a search sorts, counts or finds by words, at most; with the page, where it lists them
 * by age.
 */
export const FOUND_MAX = 1000;

/** Labels, or milestones, of a name that are examined to find whether the caller sees any. */
const NAMED_MAX = 5000;

/** Whether the caller sees a label of one of the names; of milestones likewise. */
const knownLabels = derivedTable("known_labels", "isKnown");
const knownMilestones = derivedTable("known_milestones", "isKnown");

const areLabelsKnown = sql`(select ${knownLabels.isKnown} from ${knownLabels})`;
const areMilestonesKnown = sql`(select ${knownMilestones.isKnown} from ${knownMilestones})`;

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
  /** The same for issues that are found by words; no more than `FOUND_MAX`. */
  readonly byWords: SQL;
}

/** The filter and the scope of a search. */
export interface SearchOptions {
  readonly filter: SearchParams;
  /** Whether the oldest issues are found first, rather than the newest. */
  readonly isOldest: boolean;
  readonly scope: Params<SearchScope>;
  /** A repository whose first issues are found in any case. */
  readonly priorityRepoId: SQL | undefined;
}

export function searchStatements(
  principal: PrincipalSql,
  { filter, isOldest, scope, priorityRepoId }: SearchOptions,
): SearchStatements {
  const targets = searchTargetsOf(principal, scope);
  const common = [...commonConditions(filter).values()];
  const known = knownTables(principal, filter, targets);
  const { isPull, isClosed, text, labels, milestones, people } = filter;
  const search: CandidateOptions = {
    principal,
    filter,
    conditions: [
      ...common,
      ...(labels ? [sql`(not ${areLabelsKnown} or ${hasLabelOf(labels)})`] : []),
      ...(milestones
        ? [
            sql`(not ${areMilestonesKnown} or exists (
              select 1 from ${milestoneTable}
              where ${milestoneTable.id} = ${issues.milestoneId}
                and ${milestoneTable.title} in ${milestones}
            ))`,
          ]
        : []),
      ...(isPull === undefined ? [] : [sql`${issues.isPull} = ${bit(isPull)}`]),
      ...(isClosed === undefined ? [] : [sql`${issues.isClosed} = ${bit(isClosed)}`]),
      ...(targets.isScoped ? [sql`${issues.repoId} in (${searchedIds})`] : []),
    ],
    isOldest,
  };
  const isPlain = text === undefined && common.length === 0 && known.length === 0;
  // Whether it is a list of all issues of its repositories, apart from labels and the like.
  const isListed = text === undefined && PERSON_ROLES.every((role) => !people[role]);
  const found = (max: SearchMax) => {
    const parts = [...mainIds(search, targets, max)];
    if (priorityRepoId !== undefined && isListed) {
      parts.push(prioritized(search, priorityRepoId, max.all));
    }
    return sql.join(
      parts.map((ids) => sql`select id from (${ids})`),
      sql` union `,
    );
  };
  const statement = (select: SQL): SQL => {
    const tables = [...(targets.table ? [targets.table] : []), ...known];
    return tables.length > 0 ? sql`with ${sql.join(tables, sql`, `)} ${select}` : select;
  };
  return {
    find: (max) => statement(found(max)),
    count: (max) => {
      if (isPlain && targets.isScoped) return sql`(${statement(countersOf(filter))})`;
      const select = sql`select count(*) from (${found(max)})`;
      return sql`(${statement(select)})`;
    },
  };
}

const searchedIds = sql`select ${searched.id} from ${searched}`;

/** The selects of the issues that a search finds; D1 allows five. */
function* mainIds(
  search: CandidateOptions,
  targets: SearchTargets,
  { all: max, byWords }: SearchMax,
): Generator<SQL> {
  const { principal, filter, isOldest } = search;
  const { text, people, labels } = filter;
  const role = PERSON_ROLES.find((each) => people[each]);
  const named = role && people[role];
  const isEverywhere = !targets.isScoped && seesSome(principal);
  if (text !== undefined) {
    const matching = (scope: SQL | undefined) =>
      seenOf(search, matchingIssueIds(text, { scope, isOldest }), byWords);
    if (isEverywhere) yield matching(undefined);
    if (targets.table) yield matching(scopeOfSome(searchedIds));
  } else if (role && named) {
    yield seenOf(search, issuesOfPerson(search, role, named.first), max);
  } else if (isEverywhere || !targets.isScoped) {
    if (isEverywhere) yield seenOf(search, everyIssue(search), max);
    if (targets.table) yield firstOfEach(search, max);
  } else if (labels) {
    yield firstOfLabels(search, max);
    yield firstOfEach(search, max, sql`not ${areLabelsKnown}`);
  } else {
    yield firstOfEach(search, max);
  }
}

/** Selects the ids of the first matching issues of one repository. */
const prioritized = (search: CandidateOptions, repoId: SQL, max: SQL): SQL => {
  const direction = sql.raw(search.isOldest ? "asc" : "desc");
  const ids = sql`
    select ${issues.id} from ${issues} where ${issues.repoId} = ${repoId}
    order by ${issues.number} ${direction}
    limit ${EXAMINED_MAX}`;
  return seenOf(search, ids, max);
};

/**
 * Whether the caller sees a label, or a milestone, of one of the names: unknown names are ignored.
 */
function knownTables(
  principal: PrincipalSql,
  { labels, milestones }: SearchParams,
  { isScoped }: SearchTargets,
): SQL[] {
  const tables: SQL[] = [];
  const seen = (rows: SQL, isOfRepository: SQL) => sql`exists (
    select 1
    from (select * from ${rows} limit ${NAMED_MAX}) named
    join ${repositories} on ${isOfRepository}
    where ${isRepositoryVisible(principal)}
  )`;
  if (labels) {
    if (isScoped) tables.push(labelPairs(labels));
    const named = alias(labelTable, "named");
    const isKnown = isScoped
      ? sql`exists (select 1 from ${pairs})`
      : seen(
          sql`${labelTable} where ${labelTable.name} in ${labels}`,
          sql`${repositories.id} = ${named.repoId} or ${repositories.ownerId} = ${named.orgId}`,
        );
    tables.push(sql`${knownLabels} as materialized (select ${isKnown} as is_known)`);
  }
  if (milestones) {
    const named = alias(milestoneTable, "named");
    const isTitled = sql`${milestoneTable.title} in ${milestones}`;
    const isKnown = isScoped
      ? sql`exists (
          select 1
          from ${searched} join ${milestoneTable} on ${milestoneTable.repoId} = ${searched.id}
          where ${isTitled}
        )`
      : seen(sql`${milestoneTable} where ${isTitled}`, sql`${repositories.id} = ${named.repoId}`);
    tables.push(sql`${knownMilestones} as materialized (select ${isKnown} as is_known)`);
  }
  return tables;
}

/** Sums the counters of the repositories `searched`. */
function countersOf(filter: SearchParams): SQL {
  const sums = partsOf(filter).map(({ isPull, isClosed }) => {
    const count = counterOfPart(isPull, isClosed);
    return sql`iif(${isSeenIn(searched, isPull)}, ${count}, 0)`;
  });
  return sql`select coalesce(sum(${sql.join(sums, sql` + `)}), 0) from ${searched}`;
}
