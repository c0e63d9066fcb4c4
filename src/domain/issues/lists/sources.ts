import { type SQL, sql } from "drizzle-orm";

import { allOf } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import {
  issueAssignees,
  issueLabels,
  issueMentions,
  issues,
  labels,
  milestones,
  pulls,
} from "../../../db/schema/index.ts";
import type { ListParams } from "./bound-filter.ts";
import {
  type Conditions,
  isUpdatedIn,
  keyOf,
  reviewed,
  reviewedBy,
  userIdOf,
} from "./conditions.ts";
import { PERSON_ROLES, type PersonRole } from "./issue-query.ts";
import {
  conditionsOf,
  impossibleSize,
  milestonesSize,
  type MilestoneTable,
  milestoneTableOf,
  rarestLabel,
} from "./named-filters.ts";
import type { ListOrder } from "./orders.ts";

/** Issues of a filter beyond which a list walks the index of its order rather than sort them. */
const SORTED_MAX = 2000;

/** The size of a source that is chosen where no other one is small enough. */
const WALK_SIZE = 1_000_000_000_000_000;

/**
 * A source of the issues of a list: an index of a label, of a user, or of the order itself. The
 * statement chooses one of several by their sizes; the others find nothing, since they look up null
 * in their index.
 */
interface Source {
  readonly name: string;
  /** The number of its issues, possibly bounded, or null if it can't be chosen. */
  readonly size: SQL;
  /** Whether the index gives the order of the list. */
  readonly isOrdered: boolean;
  /** The tables, without `issues` if nothing of it is needed. */
  readonly from: SQL;
  /**
   * The equality that is looked up in the index, with a value that is null unless the source is
   * chosen.
   */
  readonly seek: (ifChosen: (value: SQL) => SQL) => SQL;
  readonly columns: { readonly [K in "id" | "age" | "isPull" | "isClosed"]: SQL };
  /** The conditions that the index does not imply. */
  readonly conditions: readonly SQL[];
}

const OF_ISSUES = {
  id: sql`${issues.id}`,
  age: sql`${issues.number}`,
  isPull: sql`${issues.isPull}`,
  isClosed: sql`${issues.isClosed}`,
};

const USER_TABLES = { assignee: issueAssignees, mentioned: issueMentions } as const;

/**
 * All sources of a filtered list; the last one is the walk through the order of the whole
 * repository.
 */
export function sourcesOf(filter: ListParams, repoId: SQL, order: ListOrder): Source[] {
  const all = conditionsOf(filter);
  const { names, requiredLabels, requiredMilestone, labelIds, milestoneId, base, people } = filter;
  const milestoneTable = milestoneTableOf(filter);
  const sources: Source[] = [];
  if (requiredLabels || requiredMilestone) {
    // Chosen before all others, and never has an issue.
    const seek = () => sql`${issues.id} is null`;
    const size = impossibleSize(filter);
    sources.push({ name: "none", size, isOrdered: true, ...fromIssues(seek, []) });
  }
  if (names) {
    const implied = names.isOne ? [keyOf.labels, keyOf.requiredLabels] : [];
    sources.push(labelSource(repoId, order, without(all, ...implied)));
  }
  if (milestoneTable) {
    const implied = requiredMilestone ? keyOf.requiredMilestone : keyOf.milestones;
    sources.push(...milestoneSources(milestoneTable, order, without(all, implied)));
  }
  for (const [at, id] of Object.entries(labelIds)) {
    const name = `label${at}`;
    sources.push({ name, ...labelIdSource(repoId, id, order, without(all, keyOf.labelId(at))) });
  }
  if (milestoneId) {
    const rest = [sql`+${issues.repoId} = ${repoId}`, ...without(all, keyOf.milestoneId)];
    sources.push(milestoneIdSource(milestoneId, order, rest));
  }
  if (base) sources.push(baseSource(repoId, base, order, without(all, keyOf.base)));
  for (const role of PERSON_ROLES) {
    const named = people[role];
    if (!named) continue;
    // The index of the first user implies nothing about others.
    const implied = named.all ? [] : [keyOf.person(role)];
    sources.push(
      personSource(userIdOf(named.first), role, {
        repoId,
        order,
        isOnly: all.size === 1,
        conditions: without(all, ...implied),
      }),
    );
  }
  const range = isUpdatedIn(filter);
  if (range.length > 0 && order.key !== issues.updatedAt) {
    sources.push(updatedSource(repoId, filter, range, [...range, ...all.values()]));
  }
  const seek = (ifChosen: (value: SQL) => SQL) => sql`${issues.repoId} = ${ifChosen(repoId)}`;
  const inOrder = order.key === issues.updatedAt ? range : [];
  const rest = [...all.values(), ...inOrder];
  sources.push({
    name: "walk",
    size: sql`${WALK_SIZE}`,
    isOrdered: true,
    ...fromIssues(seek, rest),
  });
  return sources;
}

/** The conditions that remain where an index implies some. */
const without = (all: Conditions, ...implied: readonly string[]): SQL[] =>
  [...all].flatMap(([key, condition]) => (implied.includes(key) ? [] : [condition]));

const fromIssues = (seek: Source["seek"], conditions: readonly SQL[]) => ({
  from: sql`${issues}`,
  seek,
  columns: OF_ISSUES,
  conditions,
});

const OF_LABELS = {
  id: sql`${issueLabels.issueId}`,
  age: sql`${issueLabels.issueId}`,
  isPull: sql`${issueLabels.isPull}`,
  isClosed: sql`${issueLabels.isClosed}`,
};

/** A label that does not exist has no issue, and is chosen before all others. */
function labelIdSource(
  repoId: SQL,
  labelId: SQL,
  order: ListOrder,
  conditions: readonly SQL[],
): Omit<Source, "name"> {
  const size = sql`coalesce((
    select ${labels.openIssueCount} + ${labels.closedIssueCount}
    from ${labels}
    where ${labels.id} = ${labelId}
  ), 0)`;
  return {
    size,
    isOrdered: order.isByAge,
    from: withIssues(sql`${issueLabels}`, sql`${issueLabels.issueId}`, order, conditions),
    seek: (ifChosen) =>
      sql`${issueLabels.labelId} = ${ifChosen(labelId)}
        and ${issueLabels.repoId} = ${repoId}`,
    columns: OF_LABELS,
    conditions,
  };
}

function milestoneIdSource(milestoneId: SQL, order: ListOrder, conditions: readonly SQL[]): Source {
  const size = sql`coalesce((
    select ${milestones.openIssueCount} + ${milestones.closedIssueCount}
    from ${milestones}
    where ${milestones.id} = ${milestoneId}
  ), 0)`;
  const seek = (ifChosen: (value: SQL) => SQL) =>
    sql`${issues.milestoneId} = ${ifChosen(milestoneId)}`;
  return { name: "milestone-id", size, isOrdered: order.isByAge, ...fromIssues(seek, conditions) };
}

function baseSource(repoId: SQL, base: SQL, order: ListOrder, conditions: readonly SQL[]): Source {
  const isOf = (branch: SQL) =>
    sql`${pulls.repoId} = ${repoId} and ${pulls.baseBranch} = ${branch}`;
  return {
    name: "base",
    size: boundedCount(sql`${pulls} where ${isOf(base)}`),
    isOrdered: order.isByAge,
    from: withIssues(sql`${pulls}`, sql`${pulls.issueId}`, order, conditions),
    seek: (ifChosen) => isOf(ifChosen(base)),
    columns: {
      id: sql`${pulls.issueId}`,
      age: sql`${pulls.issueId}`,
      isPull: sql`1`,
      isClosed: sql`${pulls.isClosed}`,
    },
    conditions,
  };
}

/** The number of rows, if it is small enough to sort them; a greater one otherwise. */
const boundedCount = (rows: SQL): SQL => sql`(
  select count(*) from (select 1 from ${rows} limit ${SORTED_MAX + 1})
)`;

function labelSource(repoId: SQL, order: ListOrder, conditions: readonly SQL[]): Source {
  return {
    name: "label",
    size: sql`(select ${rarestLabel.size} from ${rarestLabel})`,
    isOrdered: order.isByAge,
    from: withIssues(sql`${issueLabels}`, sql`${issueLabels.issueId}`, order, conditions),
    seek: (ifChosen) =>
      sql`${issueLabels.labelId} = ${ifChosen(sql`(select ${rarestLabel.id} from ${rarestLabel})`)}
        and ${issueLabels.repoId} = ${repoId}`,
    columns: OF_LABELS,
    conditions,
  };
}

/** One milestone has an index in the order of numbers; of several the issues are sorted. */
function milestoneSources(
  table: MilestoneTable,
  order: ListOrder,
  conditions: readonly SQL[],
): Source[] {
  const one = sql`(select min(${table.id}) from ${table} having count(*) = 1)`;
  const several = sql`(
    select ${milestonesSize(table)} where (select count(*) from ${table}) > 1
  )`;
  const ofOne = sql`(select ${milestonesSize(table)} where ${one} is not null)`;
  const some = (ifChosen: (value: SQL) => SQL) =>
    sql`${table.id} = ${ifChosen(sql`${table.id}`)} and ${issues.milestoneId} = ${table.id}`;
  const seek = (ifChosen: (value: SQL) => SQL) => sql`${issues.milestoneId} = ${ifChosen(one)}`;
  return [
    { name: "milestone", size: ofOne, isOrdered: order.isByAge, ...fromIssues(seek, conditions) },
    {
      name: "milestones",
      size: several,
      isOrdered: false,
      ...fromIssues(some, conditions),
      // The outer loop is over the milestones: the planner would prefer an index of kinds and
      // states.
      from: sql`${table} cross join ${issues}`,
    },
  ];
}

function personSource(
  userId: SQL,
  role: PersonRole,
  { repoId, order, isOnly, conditions }: PersonOptions,
): Source {
  const common = { name: role, isOrdered: order.isByAge };
  // The only source is chosen whatever its size.
  const bounded = (rows: SQL) => (isOnly && order.isByAge ? sql`1` : boundedCount(rows));
  if (role === "poster") {
    const isOf = (id: SQL) => sql`${issues.posterId} = ${id} and ${issues.repoId} = ${repoId}`;
    const size = bounded(sql`${issues} where ${isOf(userId)}`);
    return { ...common, size, ...fromIssues((ifChosen) => isOf(ifChosen(userId)), conditions) };
  }
  if (role === "review_requested" || role === "reviewed") {
    const ids = reviewedBy(role, userId);
    return {
      ...common,
      isOrdered: false,
      size: boundedCount(sql`(${ids})`),
      // The outer loop is over the reviews.
      from: sql`(${ids}) ${reviewed} cross join ${issues} on ${issues.id} = ${reviewed.issueId}`,
      seek: (ifChosen) => sql`${issues.repoId} = ${ifChosen(repoId)}`,
      columns: OF_ISSUES,
      conditions,
    };
  }
  const table = USER_TABLES[role];
  const isOf = (id: SQL) => sql`${table.userId} = ${id} and ${table.repoId} = ${repoId}`;
  return {
    ...common,
    size: bounded(sql`${table} where ${isOf(userId)}`),
    from: withIssues(sql`${table}`, sql`${table.issueId}`, order, conditions),
    seek: (ifChosen) => isOf(ifChosen(userId)),
    columns: {
      id: sql`${table.issueId}`,
      age: sql`${table.issueId}`,
      isPull: sql`${table.isPull}`,
      isClosed: sql`${table.isClosed}`,
    },
    conditions,
  };
}

function updatedSource(
  repoId: SQL,
  filter: ListParams,
  range: readonly SQL[],
  conditions: readonly SQL[],
): Source {
  const size = countUpdated(repoId, filter, range, sql`${SORTED_MAX + 1}`);
  const seek = (ifChosen: (value: SQL) => SQL) => sql`${issues.repoId} = ${ifChosen(repoId)}`;
  return { name: "updated", size, isOrdered: false, ...fromIssues(seek, conditions) };
}

/**
 * Counts the issues of a repository in a range of updates, up to a limit, by the index of updates.
 */
export const countUpdated = (
  repoId: SQL,
  states: States,
  range: readonly SQL[],
  max: SQL,
): SQL => sql`(
  select count(*) from (
    select 1
    from ${issues}
    where ${issues.repoId} = ${repoId}
      and ${kindsAndStates(OF_ISSUES, states)}
      and ${allOf(...range)}
    limit ${max}
  )
)`;

interface PersonOptions {
  readonly repoId: SQL;
  readonly order: ListOrder;
  /** Whether the list has no other condition. */
  readonly isOnly: boolean;
  readonly conditions: readonly SQL[];
}

/** A table of ids, with the issues only if something of them is needed. */
const withIssues = (table: SQL, id: SQL, order: ListOrder, conditions: readonly SQL[]): SQL =>
  order.isByAge && conditions.length === 0
    ? table
    : sql`${table} cross join ${issues} on ${issues.id} = ${id}`;

type States = Pick<ListParams, "isPull" | "isClosed">;

/** The values of a column that a filter lets pass. */
export const flags = (value: boolean | undefined): readonly boolean[] =>
  value === undefined ? [false, true] : [value];

const bits = (value: boolean | undefined): SQL =>
  sql.raw(`(${flags(value).map(Number).join(", ")})`);

export const kindsAndStates = (
  columns: Pick<Source["columns"], "isPull" | "isClosed">,
  { isPull, isClosed }: States,
): SQL => sql`${columns.isPull} in ${bits(isPull)} and ${columns.isClosed} in ${bits(isClosed)}`;

/** The name of a source as a text in SQL. */
const quoted = (name: string): SQL => sql.raw(`'${name}'`);

const sized = derivedTable("sized", "n");
const choice = derivedTable("choice", "name");

/**
 * The common table expression `choice`: the name of the source with the fewest issues, of those
 * that give the order or have few enough to be sorted.
 */
export function choiceTable(sources: readonly Source[]): SQL {
  const pairs = sources.map(({ name, size, isOrdered }) => {
    const usable = isOrdered
      ? size
      : sql`(
          select ${sized.n} from (select ${size} as n) ${sized} where ${sized.n} <= ${SORTED_MAX}
        )`;
    return sql`json_array(${quoted(name)}, ${usable})`;
  });
  return sql`${choice} as materialized (
    select value ->> 0 as name
    from json_each(json_array(${sql.join(pairs, sql`, `)}))
    where value ->> 1 is not null
    order by value ->> 1
    limit 1
  )`;
}

/**
 * Selects `id` and the key `k` of a source's issues: one select for each kind and state if the
 * index gives the order.
 */
function armsOf(source: Source, states: States, order: ListOrder): SQL[] {
  const { columns, from, seek, conditions } = source;
  const ifChosen = (value: SQL) =>
    sql`iif((select ${choice.name} from ${choice}) = ${quoted(source.name)}, ${value}, null)`;
  const key = order.isByAge ? columns.age : sql`${order.key}`;
  const arm = (isOfStates: SQL) => sql`
    select ${columns.id} as id, ${key} as k
    from ${from}
    where ${allOf(seek(ifChosen), isOfStates, ...conditions)}`;
  if (!source.isOrdered) return [arm(kindsAndStates(columns, states))];
  return flags(states.isPull).flatMap((isPull) =>
    flags(states.isClosed).map((isClosed) => arm(kindsAndStates(columns, { isPull, isClosed }))),
  );
}

/** Terms of a compound select in D1, at most. */
const TERMS_MAX = 5;

/** All rows of some selects, of which there may be more than D1 allows in a compound select. */
export function unionAll(parts: readonly SQL[]): SQL {
  if (parts.length <= TERMS_MAX) return sql.join([...parts], sql` union all `);
  const [first, rest] = [parts.slice(0, TERMS_MAX - 1), parts.slice(TERMS_MAX - 1)];
  return sql`${sql.join(first, sql` union all `)} union all select * from (${unionAll(rest)})`;
}

interface Slice {
  readonly size: SQL;
  readonly offset: SQL;
}

/** Selects the ids of a page: the chosen source's, in the order of the list. */
export const pageIds = (
  sources: readonly Source[],
  states: States,
  order: ListOrder,
  { size, offset }: Slice,
): SQL =>
  unionAll(
    sources.map((source) => {
      const direction = sql.raw(order.isDescending ? "desc" : "asc");
      return sql`select id from (
        ${unionAll(armsOf(source, states, order))}
        order by k ${order.direction}, id ${direction}
        limit ${size} offset ${offset}
      )`;
    }),
  );

/** Counts the issues of the chosen source, up to a limit. */
export const countOf = (
  sources: readonly Source[],
  states: States,
  order: ListOrder,
  max: SQL,
): SQL => {
  const arms = sources.flatMap((source) => armsOf(source, states, order));
  return sql`(select count(*) from (select id from (${unionAll(arms)}) limit ${max}))`;
};
