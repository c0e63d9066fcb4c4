import { inArray, sql, type SQL } from "drizzle-orm";

import { modeOf } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, type Database } from "../../../db/db.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  ACCESS,
  type Issue,
  issues,
  milestones,
  type Repository,
  users,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { selectIssues, toIssueContext, unitOf } from "../issue/find-issue.ts";
import { type ListFilter, type ListParams, bindListFilter } from "./bound-filter.ts";
import { isUpdatedIn, keyOf } from "./conditions.ts";
import type { IssueFilter, IssueSort, PersonFilter } from "./issue-query.ts";
import {
  conditionsOf,
  milestoneTableOf,
  namedLabels,
  namedMilestones,
  namedTables,
} from "./named-filters.ts";
import { type ListOrder, orderOf, termsOf } from "./orders.ts";
import {
  choiceTable,
  countOf,
  countUpdated,
  kindsAndStates,
  pageIds,
  sourcesOf,
} from "./sources.ts";
import { matching, matchingIssueIds, scopeOf } from "./text-match.ts";

/** Issues beyond the page that a total counts at most, where no counter is stored. */
const TOTAL_MAX = 10_000;
/** Issues that a search by words finds at most. */
const FOUND_MAX = 1000;

/** The filter of a list, and the users that must exist. */
interface ListQuery {
  /** Undefined if nothing can match. */
  readonly filter: IssueFilter | undefined;
  /** The list fails if one of these users is not visible to the caller. */
  readonly requiredPeople: readonly PersonFilter[];
}

/**
 * Lists the issues and pull requests of a repository that the caller may see.
 *
 * Rows read do not grow with the repository: a page comes from the smallest index that gives its
 * order, or is sorted from few issues. Totals come from counters where the filter has one. Words
 * find a bounded number of issues, see `matchingIssueIds`.
 *
 * @throws Failure `not_found` for the name of a user that does not exist.
 */
export async function listIssues(
  ctx: Ctx,
  repo: RepositoryContext,
  { filter, requiredPeople }: ListQuery,
  slice: Slice,
): Promise<Listed<IssueContext>> {
  const people = [...(filter?.people ?? []), ...requiredPeople];
  const names = [...new Set(requiredPeople.map(({ name }) => name.toLowerCase()))];
  const { known, ...page } = await batch(ctx.db, {
    ...selectList(ctx.db, repo, filter && { ...filter, people }, slice),
    known: knownUsers(ctx.db, { principal: principalOf(ctx.actor), names }),
  });
  const missing = names.find((name) => !known.some((each) => each.name === name));
  if (missing !== undefined) throw notFound("user does not exist");
  return toListedPage(page, (row) => toIssueContext(repo, row));
}

const knownUsers = prepare(
  (db, { principal, names }: Params<{ principal: Principal; names: readonly string[] }>) =>
    db
      .select({ name: users.lowerName })
      .from(users)
      .where(allOf(inArray(users.lowerName, names), isAccountVisible(principal))),
);

/** The statements of a list: its page and its total. */
export function selectList(
  db: Database,
  repo: RepositoryContext,
  filter: IssueFilter | undefined,
  slice: Slice,
) {
  const visible = filter && visibleOf(repo, filter);
  const scope = listScopeOf(repo, visible ?? {}, slice);
  const args = { scope, filter: visible && bindListFilter(visible) };
  return issuePage(db, args, { sort: visible?.sort ?? "newest" });
}

/** The repository and the page of a list, as arguments of its statements. */
export interface ListScope {
  readonly repoId: number;
  readonly ownerId: number;
  /** The number of its issues of the filter's kinds and states, by its counters. */
  readonly storedTotal: number;
  readonly countMax: number;
  readonly size: number;
  readonly offset: number;
}

/** The scope of a list of the kinds and states of a filter. */
export const listScopeOf = (
  { row }: RepositoryContext,
  filter: Partial<KindsAndStates>,
  { size, offset }: Slice,
): ListScope => ({
  repoId: row.id,
  ownerId: row.ownerId,
  storedTotal: totalOf(row, filter),
  countMax: TOTAL_MAX + offset + size,
  size,
  offset,
});

type KindsAndStates = Pick<IssueFilter, "isPull" | "isClosed">;

interface ListArguments {
  readonly scope: ListScope;
  /** Undefined if nothing can match. */
  readonly filter: ListFilter | undefined;
}

const issuePage = prepareAll(
  (db, { scope, filter }: Params<ListArguments>, { sort }: { sort: IssueSort }) => {
    const { ids, total, terms } = listStatements(scope, filter, sort);
    return {
      rows: selectIssues(db)
        .where(sql`${issues.id} in (${ids})`)
        .orderBy(...terms),
      counted: selectTotal(db, total),
    };
  },
);

/**
 * The parts of the statements of a list: the query for the ids of its page, its total, and its
 * order for rows of `issues`.
 *
 * @param filter Undefined if nothing can match.
 */
export function listStatements(
  scope: Params<ListScope>,
  filter: ListParams | undefined,
  sort: IssueSort,
): ListStatements {
  const order = orderOf(sort);
  const statements = filter ? statementsOf(scope, filter, order) : NOTHING;
  return { ...statements, terms: termsOf(order) };
}

const NOTHING = { ids: sql`select ${issues.id} from ${issues} where 0`, total: sql`0` };

/**
 * The filter without the kinds whose unit is off or not the caller's; undefined if nothing is left.
 */
function visibleOf(repo: RepositoryContext, filter: IssueFilter): IssueFilter | undefined {
  const [first, ...more] = [false, true].filter(
    (isPull) => isKindListed(repo, { isPull }) && (filter.isPull ?? isPull) === isPull,
  );
  if (first === undefined) return undefined;
  return { ...filter, isPull: more.length > 0 ? undefined : first };
}

/**
 * Whether the caller sees the issues or the pull requests of a repository in lists: their unit is
 * on.
 */
export function isKindListed(repo: RepositoryContext, kind: Pick<Issue, "isPull">): boolean {
  const unit = unitOf(kind);
  return isUnitOn(repo.row, unit) && modeOf(repo, unit) >= ACCESS.read;
}

interface Statements {
  /** Selects the ids of the page. */
  readonly ids: SQL;
  readonly total: SQL;
}

interface ListStatements extends Statements {
  readonly terms: SQL[];
}

function statementsOf(scope: Params<ListScope>, filter: ListParams, order: ListOrder): Statements {
  const { repoId, ownerId, storedTotal, countMax: max, size, offset } = scope;
  const slice = { size, offset };
  const tables = namedTables(filter, { repoId, ownerId });
  if (filter.text) return textStatements(scope, filter, filter.text, order, tables);
  const sources = sourcesOf(filter, repoId, order);
  const head = sql`with ${sql.join([...tables, choiceTable(sources)], sql`, `)}`;
  const range = isUpdatedIn(filter);
  const isRangeAlone = range.length > 0 && conditionsOf(filter).size === 1;
  const counted = isRangeAlone
    ? countUpdated(repoId, filter, range, max)
    : countOf(sources, filter, order, max);
  const counters = countersOf(storedTotal, filter);
  return {
    ids: sql`${head} ${pageIds(sources, filter, order, slice)}`,
    // `coalesce` counts only where no counter is stored.
    total: sql`(${head} select coalesce(${sql.join([...counters, counted], sql`, `)}, 0))`,
  };
}

/** The stored counters that answer a total, if they have a value. */
function countersOf(storedTotal: SQL, filter: ListParams): SQL[] {
  const keys = [...conditionsOf(filter).keys()];
  const [key, ...more] = keys;
  const isOnly = filter.isPull === undefined && more.length === 0;
  const list: SQL[] = [];
  if (isOnly && filter.names?.isOne && (key === keyOf.labels || key === keyOf.requiredLabels)) {
    // An organization's label counts the issues of all repositories.
    list.push(sql`(
      select max(${counterOf(namedLabels, filter)}) from ${namedLabels}
      having count(*) = 1 and max(${namedLabels.repoId}) is not null
    )`);
  }
  const milestoneTable = milestoneTableOf(filter);
  if (isOnly && milestoneTable && (key === keyOf.milestones || key === keyOf.requiredMilestone)) {
    list.push(sql`(
      select sum(${counterOf(milestones, filter)}) from ${milestones}
      where ${milestones.id} in (select ${milestoneTable.id} from ${milestoneTable})
    )`);
  }
  const isAll: Readonly<Record<string, SQL>> = {
    [keyOf.labels]: sql`not exists (select 1 from ${namedLabels})`,
    [keyOf.milestones]: sql`not exists (select 1 from ${namedMilestones})`,
  };
  if (keys.every((each) => each in isAll)) {
    const isUnfiltered = allOf(...keys.map((each) => isAll[each]));
    list.push(sql`case when ${isUnfiltered} then ${storedTotal} end`);
  }
  return list;
}

/** The issues of the filter's states that a label or milestone counts. */
function counterOf(
  { openIssueCount, closedIssueCount }: typeof namedLabels | typeof milestones,
  { isClosed }: ListParams,
): SQL {
  if (isClosed === undefined) return sql`${openIssueCount} + ${closedIssueCount}`;
  return sql`${isClosed ? closedIssueCount : openIssueCount}`;
}

/** The number of issues and pull requests of a repository, by its counters. */
function totalOf(row: Repository, { isPull, isClosed }: Partial<KindsAndStates>): number {
  const counts = [
    { isPull: false, isClosed: false, count: row.openIssueCount },
    { isPull: false, isClosed: true, count: row.closedIssueCount },
    { isPull: true, isClosed: false, count: row.openPullCount },
    { isPull: true, isClosed: true, count: row.closedPullCount },
  ];
  return counts
    .filter((each) => (isPull ?? each.isPull) === each.isPull)
    .filter((each) => (isClosed ?? each.isClosed) === each.isClosed)
    .reduce((sum, { count }) => sum + count, 0);
}

/**
 * The statements for a filter with words: the newest issues that have them, or the oldest, in the
 * order of the list.
 */
function textStatements(
  { repoId, size, offset }: Params<ListScope>,
  filter: ListParams,
  text: SQL,
  order: ListOrder,
  tables: readonly SQL[],
): Statements {
  const matchingIds = matchingIssueIds(text, {
    scope: scopeOf(repoId),
    isOldest: order.isByAge && !order.isDescending,
  });
  const columns = { isPull: sql`${issues.isPull}`, isClosed: sql`${issues.isClosed}` };
  // The documents come in the order of issues, and the outer loop keeps it.
  const found = sql`
    select ${issues.id}
    from (${matchingIds}) ${matching}
    cross join ${issues} on ${issues.id} = ${matching.id}
    where ${allOf(
      sql`${issues.repoId} = ${repoId}`,
      kindsAndStates(columns, filter),
      ...conditionsOf(filter).values(),
    )}
    limit ${FOUND_MAX}`;
  const head = tables.length > 0 ? sql`with ${sql.join([...tables], sql`, `)}` : sql``;
  return {
    ids: sql`${head}
      select ${issues.id}
      from ${issues}
      where ${issues.id} in (${found})
      order by ${sql.join(termsOf(order), sql`, `)}
      limit ${size} offset ${offset}`,
    total: sql`(${head} select count(*) from (${found}))`,
  };
}
