import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isTeamAsked, pullsAskingTeamsOf } from "../../../auth/access/requested-teams.ts";
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
  reviews,
  users,
} from "../../../db/schema/index.ts";
import { hasDraftTitle } from "../issue/draft-title.ts";
import type { FilterParams } from "./bound-filter.ts";
import { type Missing, MISSING, PERSON_ROLES, type PersonRole } from "./issue-query.ts";

// Conditions on the `issues` rows of a query.

/** A condition's result as SQLite stores it. */
export const bit = (value: boolean): SQL => sql.raw(value ? "1" : "0");

/**
 * Selects the id of a user by name, which is bound in lower case; none if there is no such user.
 */
export const userIdOf = (name: SQL): SQL =>
  sql`(select ${users.id} from ${users} where ${users.lowerName} = ${name})`;

const namedUser = alias(users, "named_user");

/** The users of a role. */
type PeopleParams = NonNullable<FilterParams["people"][PersonRole]>;

/**
 * The condition that each of some users has to do with an issue; false if one of them does not
 * exist.
 */
const hasPeople = (role: PersonRole, { first, all }: PeopleParams): SQL =>
  all === undefined
    ? hasPerson(role, userIdOf(first))
    : sql`not exists (
        select 1
        from ${all} named
        left join ${users} ${namedUser} on ${namedUser.lowerName} = named.value
        where (${hasPerson(role, sql`${namedUser.id}`)}) is not true
      )`;

const hasPerson = (role: PersonRole, userId: SQL): SQL =>
  ({
    // Without an index, which the source of a list has, and an order needs another.
    poster: sql`+${issues.posterId} = ${userId}`,
    assignee: sql`exists (
      select 1 from ${issueAssignees}
      where ${issueAssignees.issueId} = ${issues.id} and ${issueAssignees.userId} = ${userId}
    )`,
    mentioned: sql`exists (
      select 1 from ${issueMentions}
      where ${issueMentions.issueId} = ${issues.id} and ${issueMentions.userId} = ${userId}
    )`,
    review_requested: sql`(
      exists (
        select 1 from ${reviews}
        where ${reviews.issueId} = ${issues.id} and ${isRequestedOf(userId)}
      )
      or ${isTeamAsked(sql`${issues.id}`, userId)}
    )`,
    reviewed: sql`exists (
      select 1 from ${reviews}
      where ${reviews.issueId} = ${issues.id} and ${isSubmittedBy(userId)}
    )`,
  })[role];

const later = alias(reviews, "later");

/**
 * The condition, on the `reviews` rows of a query, that a review of a user is requested, and that
 * they did not approve or reject since.
 */
const isRequestedOf = (userId: SQL): SQL => sql`(
  ${reviews.reviewerId} = ${userId}
  and ${reviews.state} = 'request_review'
  and not exists (
    select 1 from ${reviews} ${later}
    where ${later.issueId} = ${reviews.issueId}
      and ${later.id} > ${reviews.id}
      and ${later.reviewerId} = ${userId}
      and ${later.state} in ('approved', 'request_changes')
  )
)`;

const isSubmittedBy = (userId: SQL): SQL => sql`(
  ${reviews.reviewerId} = ${userId}
  and ${reviews.state} in ('approved', 'request_changes', 'comment')
)`;

/** The pull requests that `reviewedBy` selects. */
export const reviewed = derivedTable("reviewed", "issueId");

/** Selects the pull requests that a user reviewed, or was requested to review, as `issue_id`. */
export const reviewedBy = (role: "review_requested" | "reviewed", userId: SQL): SQL =>
  role === "reviewed"
    ? sql`select distinct ${reviews.issueId} from ${reviews} where ${isSubmittedBy(userId)}`
    : sql`
        select ${reviews.issueId} from ${reviews} where ${isRequestedOf(userId)}
        union
        ${pullsAskingTeamsOf(userId)}`;

const isPullWith = (condition: SQL): SQL => sql`exists (
  select 1 from ${pulls} where ${pulls.issueId} = ${issues.id} and ${condition}
)`;

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

/** Selects the labels of an issue, of some names. */
const labelsOf = (column: SQL, names: SQL): SQL => sql`
  select ${column}
  from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
  where ${issueLabels.issueId} = ${issues.id} and ${labels.name} in ${names}`;

/** The condition that an issue has a label of one of some names. */
export const hasLabelOf = (names: SQL): SQL => sql`exists (${labelsOf(sql`1`, names)})`;

/** The condition that an issue has a label of each name. */
const hasLabelsOf = ({ isOne, all }: NonNullable<FilterParams["requiredLabels"]>): SQL =>
  isOne
    ? hasLabelOf(all)
    : sql`(${labelsOf(sql`count(distinct ${labels.name})`, all)}) = ${countOfList(all)}`;

/** The number of values of a list. */
export const countOfList = (list: SQL): SQL => sql`(select count(*) from ${list})`;

/** The condition that an issue has a milestone of a title. */
const hasMilestoneOf = (title: SQL): SQL => sql`exists (
  select 1 from ${milestones}
  where ${milestones.id} = ${issues.milestoneId} and ${milestones.title} = ${title}
)`;

export const isUpdatedIn = ({ since, before }: Pick<FilterParams, "since" | "before">): SQL[] => [
  ...(since === undefined ? [] : [sql`${issues.updatedAt} >= ${since}`]),
  ...(before === undefined ? [] : [sql`${issues.updatedAt} <= ${before}`]),
];

/**
 * Conditions of a filter by key, so that the query of an index that implies one leaves it out.
 */
export type Conditions = ReadonlyMap<string, SQL>;

/** The keys of conditions. */
export const keyOf = {
  labels: "labels",
  requiredLabels: "required-labels",
  milestones: "milestones",
  requiredMilestone: "required-milestone",
  labelId: (at: string) => `label-id:${at}`,
  milestoneId: "milestone-id",
  base: "base",
  person: (role: PersonRole) => `person:${role}`,
};

function* pullConditions({
  base,
  head,
  isMerged,
  isDraft,
}: FilterParams): Generator<[string, SQL]> {
  if (base !== undefined) yield [keyOf.base, isPullWith(sql`${pulls.baseBranch} = ${base}`)];
  if (head !== undefined) yield ["head", isPullWith(sql`${pulls.headBranch} = ${head}`)];
  if (isMerged !== undefined) {
    const not = sql.raw(isMerged ? "not" : "");
    yield ["merged", isPullWith(sql`${pulls.mergedAt} is ${not} null`)];
  }
  if (isDraft !== undefined) yield ["draft", isDraft ? hasDraftTitle : sql`not ${hasDraftTitle}`];
}

/** The conditions of a filter that are the same in one repository and in all. */
export function commonConditions(filter: FilterParams): Map<string, SQL> {
  const conditions = new Map<string, SQL>();
  const { requiredLabels, requiredMilestone, people, without, excludedLabels } = filter;
  if (requiredLabels) conditions.set(keyOf.requiredLabels, hasLabelsOf(requiredLabels));
  if (requiredMilestone) {
    conditions.set(keyOf.requiredMilestone, hasMilestoneOf(requiredMilestone));
  }
  for (const role of PERSON_ROLES) {
    const named = people[role];
    if (named) conditions.set(keyOf.person(role), hasPeople(role, named));
  }
  for (const [key, condition] of pullConditions(filter)) conditions.set(key, condition);
  for (const missing of MISSING) {
    if (without[missing]) conditions.set(`no:${missing}`, isWithout(missing));
  }
  if (excludedLabels) conditions.set("excluded", sql`not ${hasLabelOf(excludedLabels)}`);
  const range = isUpdatedIn(filter);
  // Without an index, so that the order of the list chooses it.
  const isInRange = range.map((each) => sql`(${each}) is true`);
  if (range.length > 0) conditions.set("updated", allOf(...isInRange));
  return conditions;
}
