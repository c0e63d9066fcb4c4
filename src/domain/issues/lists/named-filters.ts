import { type SQL, sql } from "drizzle-orm";

import { issueLabels, issues, labels } from "../../../db/schema/index.ts";
import type { ListParams } from "./bound-filter.ts";
import { commonConditions, type Conditions, countOfList, keyOf } from "./conditions.ts";

// Labels and milestones that a list names. They are found in the statement of the list, which saves
// a round trip: the common table expressions `wanted` and `wanted_milestones`, and conditions and
// sizes that read them.

type NamedFilter = Pick<
  ListParams,
  "names" | "requiredLabels" | "milestones" | "requiredMilestone"
>;

/** Where names are looked up: a repository, with the organization whose labels it has. */
interface NameScope {
  readonly repoId: SQL;
  readonly ownerId: SQL;
}

/**
 * The common table expression with the milestones that an issue may have; undefined if it may have
 * any.
 */
export function milestoneTableOf({ milestones, requiredMilestone }: NamedFilter): SQL | undefined {
  if (requiredMilestone) return sql.raw("required_milestones");
  return milestones ? sql.raw("wanted_milestones") : undefined;
}

/** The common table expressions of a filter, in their order. */
export function namedTables(
  { names, milestones, requiredMilestone }: NamedFilter,
  { repoId, ownerId }: NameScope,
): SQL[] {
  const tables: SQL[] = [];
  if (names) {
    const columns = sql.raw(
      "id, name, repo_id, open_issue_count as open_count, closed_issue_count as closed_count",
    );
    tables.push(sql`wanted as materialized (
      select ${columns} from labels
      where repo_id = ${repoId} and name in ${names.all}
      union all
      select ${columns} from labels
      where org_id = ${ownerId} and name in ${names.all}
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
  if (milestones) {
    // A number is an id unless it is a title.
    tables.push(sql`wanted_milestones as materialized (
      select id from milestones
      where repo_id = ${repoId} and title in ${milestones.titles}
      union
      select id from milestones m
      where m.repo_id = ${repoId}
        and m.id in ${milestones.ids}
        and not exists (
          select 1 from milestones other
          where other.repo_id = ${repoId} and other.title = m.id || ''
        )
    )`);
  }
  if (requiredMilestone) {
    tables.push(sql`required_milestones as materialized (
      select id from milestones
      where repo_id = ${repoId} and title = ${requiredMilestone}
    )`);
  }
  return tables;
}

/** The conditions of a filter on the issues of one repository. */
export function conditionsOf(filter: ListParams): Conditions {
  const conditions = commonConditions(filter);
  for (const [at, id] of Object.entries(filter.labelIds)) {
    conditions.set(
      keyOf.labelId(at),
      sql`exists (
        select 1 from ${issueLabels}
        where ${issueLabels.issueId} = ${issues.id} and ${issueLabels.labelId} = ${id}
      )`,
    );
  }
  if (filter.moreLabelIds) conditions.set("more-label-ids", hasLabelIds(filter.moreLabelIds));
  if (filter.milestoneId) {
    conditions.set(keyOf.milestoneId, sql`+${issues.milestoneId} = ${filter.milestoneId}`);
  }
  if (filter.labels) conditions.set(keyOf.labels, hasKnownLabels(filter.labels));
  if (filter.milestones) conditions.set(keyOf.milestones, hasKnownMilestone);
  return conditions;
}

/** The condition that an issue has the labels of all ids. */
const hasLabelIds = (ids: SQL): SQL => sql`(
  select count(*) from ${issueLabels}
  where ${issueLabels.issueId} = ${issues.id} and ${issueLabels.labelId} in ${ids}
) = ${countOfList(ids)}`;

/** The condition that an issue has a label of each name that exists; true if none does. */
const hasKnownLabels = (names: SQL): SQL => sql`(
  select count(distinct ${labels.name})
  from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
  where ${issueLabels.issueId} = ${issues.id}
    and ${issueLabels.labelId} in (select id from wanted)
    and ${labels.name} in ${names}
) = (select count(distinct name) from wanted where name in ${names})`;

/** The condition that an issue has one of the milestones that exist; true if none does. */
const hasKnownMilestone: SQL = sql`(
  not exists (select 1 from wanted_milestones)
  or ${issues.milestoneId} in (select id from wanted_milestones)
)`;

/** Zero if a required label or milestone does not exist, so that nothing has it; null otherwise. */
export function impossibleSize({ requiredLabels, requiredMilestone }: NamedFilter): SQL {
  const conditions = [
    ...(requiredLabels
      ? [
          sql`(
            select count(distinct name) from wanted where name in ${requiredLabels.all}
          ) < ${countOfList(requiredLabels.all)}`,
        ]
      : []),
    ...(requiredMilestone ? [sql`not exists (select 1 from required_milestones)`] : []),
  ];
  if (conditions.length === 0) return sql`null`;
  return sql`case when ${sql.join(conditions, sql` or `)} then 0 end`;
}

/** The number of issues in the milestones of a table; null for none. */
export const milestonesSize = (table: SQL): SQL => sql`(
  select sum(open_issue_count + closed_issue_count) from milestones
  where id in (select id from ${table})
)`;
