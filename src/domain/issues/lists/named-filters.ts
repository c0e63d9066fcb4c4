import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { type DerivedTable, derivedTable } from "../../../db/derived-table.ts";
import { issueLabels, issues, labels, milestones } from "../../../db/schema/index.ts";
import type { ListParams } from "./bound-filter.ts";
import { commonConditions, type Conditions, countOfList, keyOf } from "./conditions.ts";

// Labels and milestones that a list names. The statement of the list finds them itself, in common
// table expressions, which saves a round trip.

/** Labels of the names of a filter. */
export const namedLabels = derivedTable(
  "named_labels",
  "id",
  "name",
  "repoId",
  "openIssueCount",
  "closedIssueCount",
);

/** The label with the fewest issues, of a name that no other label has. */
export const rarestLabel = derivedTable("rarest_label", "id", "size");

/** Milestones that count if they exist. */
export const namedMilestones = derivedTable("named_milestones", "id");

/** Milestones of the required title. */
const requiredMilestones = derivedTable("required_milestones", "id");

export type MilestoneTable = DerivedTable<"id">;

type NamedFilter = Pick<
  ListParams,
  "names" | "requiredLabels" | "milestones" | "requiredMilestone"
>;

/** The repository in which names are looked up, and the organization whose labels it has. */
interface NameScope {
  readonly repoId: SQL;
  readonly ownerId: SQL;
}

/** The table of the milestones that an issue may have; undefined if it may have any. */
export function milestoneTableOf(filter: NamedFilter): MilestoneTable | undefined {
  if (filter.requiredMilestone) return requiredMilestones;
  return filter.milestones && namedMilestones;
}

const titled = alias(milestones, "titled");

/** The common table expressions of a filter, in their order. */
export function namedTables(
  { names, milestones: named, requiredMilestone }: NamedFilter,
  { repoId, ownerId }: NameScope,
): SQL[] {
  const tables: SQL[] = [];
  if (names) {
    const columns = sql`${labels.id}, ${labels.name}, ${labels.repoId}, ${labels.openIssueCount},
      ${labels.closedIssueCount}`;
    tables.push(sql`${namedLabels} as materialized (
      select ${columns} from ${labels}
      where ${labels.repoId} = ${repoId} and ${labels.name} in ${names.all}
      union all
      select ${columns} from ${labels}
      where ${labels.orgId} = ${ownerId} and ${labels.name} in ${names.all}
    )`);
    tables.push(sql`${rarestLabel} as materialized (
      select min(${namedLabels.id}) as id,
        sum(${namedLabels.openIssueCount} + ${namedLabels.closedIssueCount}) as size
      from ${namedLabels}
      group by ${namedLabels.name}
      having count(*) = 1
      order by size
      limit 1
    )`);
  }
  if (named) {
    // A number is an id unless it is a title.
    tables.push(sql`${namedMilestones} as materialized (
      select ${milestones.id} from ${milestones}
      where ${milestones.repoId} = ${repoId} and ${milestones.title} in ${named.titles}
      union
      select ${milestones.id} from ${milestones}
      where ${milestones.repoId} = ${repoId}
        and ${milestones.id} in ${named.ids}
        and not exists (
          select 1 from ${milestones} ${titled}
          where ${titled.repoId} = ${repoId} and ${titled.title} = ${milestones.id} || ''
        )
    )`);
  }
  if (requiredMilestone) {
    tables.push(sql`${requiredMilestones} as materialized (
      select ${milestones.id} from ${milestones}
      where ${milestones.repoId} = ${repoId} and ${milestones.title} = ${requiredMilestone}
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
    and ${issueLabels.labelId} in (select ${namedLabels.id} from ${namedLabels})
    and ${labels.name} in ${names}
) = ${countKnown(names)}`;

/** The number of names, of some, that labels have. */
const countKnown = (names: SQL): SQL => sql`(
  select count(distinct ${namedLabels.name})
  from ${namedLabels}
  where ${namedLabels.name} in ${names}
)`;

/** The condition that an issue has one of the milestones that exist; true if none does. */
const hasKnownMilestone: SQL = sql`(
  not exists (select 1 from ${namedMilestones})
  or ${issues.milestoneId} in (select ${namedMilestones.id} from ${namedMilestones})
)`;

/** Zero if a required label or milestone does not exist, so that no issue matches; else null. */
export function impossibleSize({ requiredLabels, requiredMilestone }: NamedFilter): SQL {
  const conditions = [
    ...(requiredLabels
      ? [sql`${countKnown(requiredLabels.all)} < ${countOfList(requiredLabels.all)}`]
      : []),
    ...(requiredMilestone ? [sql`not exists (select 1 from ${requiredMilestones})`] : []),
  ];
  if (conditions.length === 0) return sql`null`;
  return sql`case when ${sql.join(conditions, sql` or `)} then 0 end`;
}

/** The number of issues in the milestones of a table; null for none. */
export const milestonesSize = (table: MilestoneTable): SQL => sql`(
  select sum(${milestones.openIssueCount} + ${milestones.closedIssueCount}) from ${milestones}
  where ${milestones.id} in (select ${table.id} from ${table})
)`;
