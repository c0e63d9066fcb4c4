import { type SQL, sql } from "drizzle-orm";

import { issueLabels, issues, labels } from "../../db/schema/index.ts";
import { type Arguments, integer } from "./arguments.ts";
import { commonConditions, type Conditions, keyOf } from "./conditions.ts";
import type { IssueFilter } from "./issue-query.ts";

// Labels and milestones that a list names. They are found in the statement of the list, which saves a round trip: the
// common table expressions `wanted` and `wanted_milestones`, and conditions and sizes that read them.

type NamedFilter = Pick<
  IssueFilter,
  "labels" | "requiredLabels" | "milestones" | "requiredMilestones"
>;

/** Where names are looked up: a repository, with the organization whose labels it has. */
export interface NameScope {
  readonly repoId: number | SQL;
  readonly ownerId: number | SQL;
}

export const labelNamesOf = ({ labels: names, requiredLabels }: NamedFilter): string[] => [
  ...new Set([...names, ...requiredLabels]),
];

/** The common table expression with the milestones that an issue may have; undefined if it may have any. */
export function milestoneTableOf({ milestones, requiredMilestones }: NamedFilter): SQL | undefined {
  if (requiredMilestones.length > 0) return sql.raw("required_milestones");
  return milestones.length > 0 ? sql.raw("wanted_milestones") : undefined;
}

/** The common table expressions of a filter, in their order. */
export function namedTables(
  args: Arguments,
  filter: NamedFilter,
  { repoId, ownerId }: NameScope,
): SQL[] {
  const tables: SQL[] = [];
  const names = labelNamesOf(filter);
  if (names.length > 0) {
    const columns = sql.raw(
      "id, name, repo_id, open_issue_count as open_count, closed_issue_count as closed_count",
    );
    tables.push(sql`wanted as materialized (
      select ${columns} from labels
      where repo_id = ${integer(repoId)} and name in ${args.list(names)}
      union all
      select ${columns} from labels
      where org_id = ${integer(ownerId)} and name in ${args.list(names)}
    )`);
    // The label with the fewest issues, of a name that no other label has.
    tables.push(sql`rarest as materialized (
      select min(id) as id, sum(open_count + closed_count) as size
      from wanted
      group by name
      having count(*) = 1
      order by size
      limit 1
    )`);
  }
  const named = (titles: readonly string[]) => sql`
    select id from milestones
    where repo_id = ${integer(repoId)} and title in ${args.list(titles)}`;
  if (filter.milestones.length > 0) {
    const ids = filter.milestones.filter((title) => /^\d{1,15}$/.test(title)).map(Number);
    // A number is an id unless it is a title.
    tables.push(sql`wanted_milestones as materialized (
      ${named(filter.milestones)}
      union
      select id from milestones m
      where m.repo_id = ${integer(repoId)}
        and m.id in ${args.list(ids)}
        and not exists (
          select 1 from milestones other
          where other.repo_id = ${integer(repoId)} and other.title = m.id || ''
        )
    )`);
  }
  // No issue has two: a second title is a condition that nothing meets.
  const [title] = filter.requiredMilestones;
  if (title !== undefined) {
    tables.push(sql`required_milestones as materialized (${named([title])})`);
  }
  return tables;
}

/** The conditions of a filter on the issues of one repository. */
export function conditionsOf(args: Arguments, filter: IssueFilter): Conditions {
  const conditions = commonConditions(args, filter);
  if (filter.labels.length > 0) conditions.set(keyOf.labels, hasKnownLabels(args, filter.labels));
  if (filter.milestones.length > 0) {
    conditions.set(keyOf.milestones, hasKnownMilestone);
  }
  return conditions;
}

/** The condition that an issue has a label of each name that exists; true if none does. */
const hasKnownLabels = (args: Arguments, names: readonly string[]): SQL => sql`(
  select count(distinct ${labels.name})
  from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
  where ${issueLabels.issueId} = ${issues.id}
    and ${issueLabels.labelId} in (select id from wanted)
    and ${labels.name} in ${args.list(names)}
) = (select count(distinct name) from wanted where name in ${args.list(names)})`;

/** The condition that an issue has one of the milestones that exist; true if none does. */
const hasKnownMilestone: SQL = sql`(
  not exists (select 1 from wanted_milestones)
  or ${issues.milestoneId} in (select id from wanted_milestones)
)`;

/** Zero if a required label or milestone does not exist, so that nothing has it; null otherwise. */
export function impossibleSize(
  args: Arguments,
  { requiredLabels, requiredMilestones }: NamedFilter,
): SQL {
  const names = [...new Set(requiredLabels)];
  const conditions = [
    ...(names.length > 0
      ? [
          sql`(
            select count(distinct name) from wanted where name in ${args.list(names)}
          ) < ${integer(names.length)}`,
        ]
      : []),
    ...(requiredMilestones.length > 0 ? [sql`not exists (select 1 from required_milestones)`] : []),
  ];
  if (conditions.length === 0) return sql`null`;
  return sql`case when ${sql.join(conditions, sql` or `)} then 0 end`;
}

/** The number of issues in the milestones of a table; null for none. */
export const milestonesSize = (table: SQL): SQL => sql`(
  select sum(open_issue_count + closed_issue_count) from milestones
  where id in (select id from ${table})
)`;
