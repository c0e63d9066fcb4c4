import { type SQL, sql } from "drizzle-orm";

import { allOf } from "../../../db/db.ts";
import {
  issueAssignees,
  issueLabels,
  issueMentions,
  issues,
  labels,
} from "../../../db/schema/index.ts";
import type { IssueFilter, Missing, PersonRole } from "./issue-query.ts";

// Conditions on the `issues` rows of a query.

/** A list of values in a statement, as one bound value. */
export const listOf = (values: readonly (number | string)[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(values)}))`;

/** Selects the id of a user by name; none if there is no such user. */
export const userIdOf = (name: string): SQL => sql`(
  select id from users where lower_name = ${name.toLowerCase()}
)`;

const hasPerson = (role: PersonRole, userId: SQL): SQL =>
  ({
    poster: sql`${issues.posterId} = ${userId}`,
    assignee: sql`exists (
      select 1 from ${issueAssignees}
      where ${issueAssignees.issueId} = ${issues.id} and ${issueAssignees.userId} = ${userId}
    )`,
    mentioned: sql`exists (
      select 1 from ${issueMentions}
      where ${issueMentions.issueId} = ${issues.id} and ${issueMentions.userId} = ${userId}
    )`,
  })[role];

const isWithout = (missing: Missing): SQL =>
  ({
    label: sql`not exists (
      select 1 from ${issueLabels} where ${issueLabels.issueId} = ${issues.id}
    )`,
    milestone: sql`${issues.milestoneId} is null`,
    assignee: sql`not exists (
      select 1 from ${issueAssignees} where ${issueAssignees.issueId} = ${issues.id}
    )`,
  })[missing];

/** The condition that an issue has a label of one of some names. */
export const hasLabelOf = (names: readonly string[]): SQL => sql`exists (
  select 1 from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
  where ${issueLabels.issueId} = ${issues.id} and ${labels.name} in ${listOf(names)}
)`;

/** The condition that an issue has a milestone of a title. */
const hasMilestoneOf = (title: string): SQL => sql`exists (
  select 1 from milestones m where m.id = ${issues.milestoneId} and m.title = ${title}
)`;

export const isUpdatedIn = ({ since, before }: Pick<IssueFilter, "since" | "before">): SQL[] => [
  ...(since === undefined ? [] : [sql`${issues.updatedAt} >= ${since}`]),
  ...(before === undefined ? [] : [sql`${issues.updatedAt} <= ${before}`]),
];

/** Conditions of a filter by what they ask for, so that an index that implies one can do without it. */
export type Conditions = ReadonlyMap<string, SQL>;

/** The keys of conditions. */
export const keyOf = {
  labels: "labels",
  requiredLabel: (name: string) => `label:${name}`,
  milestones: "milestones",
  requiredMilestone: (title: string) => `milestone:${title}`,
  person: (at: number) => `person:${at}`,
};

/** The conditions of a filter that are the same in one repository and in all. */
export function commonConditions(filter: IssueFilter): Map<string, SQL> {
  const conditions = new Map<string, SQL>();
  for (const name of filter.requiredLabels) {
    conditions.set(keyOf.requiredLabel(name), hasLabelOf([name]));
  }
  for (const title of filter.requiredMilestones) {
    conditions.set(keyOf.requiredMilestone(title), hasMilestoneOf(title));
  }
  for (const [at, { role, name }] of filter.people.entries()) {
    conditions.set(keyOf.person(at), hasPerson(role, userIdOf(name)));
  }
  for (const missing of filter.without) conditions.set(`no:${missing}`, isWithout(missing));
  if (filter.excludedLabels.length > 0) {
    conditions.set("excluded", sql`not ${hasLabelOf(filter.excludedLabels)}`);
  }
  const range = isUpdatedIn(filter);
  if (range.length > 0) conditions.set("updated", allOf(...range));
  return conditions;
}
