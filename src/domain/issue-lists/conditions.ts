import { type SQL, sql } from "drizzle-orm";

import { isTeamAsked, pullsAskingTeamsOf } from "../../auth/access/requested-teams.ts";
import { allOf } from "../../db/db.ts";
import { lowered } from "../../db/ids-of-names.ts";
import {
  issueAssignees,
  issueLabels,
  issueMentions,
  issues,
  labels,
  pulls,
  reviews,
} from "../../db/schema/index.ts";
import { hasDraftTitle } from "../issues/draft-title.ts";
import { type Arguments, integer } from "./arguments.ts";
import type { IssueFilter, Missing, PersonRole, PullFilter } from "./issue-query.ts";

// Conditions on the `issues` rows of a query.

/** Selects the id of a user by name; none if there is no such user. */
export const userIdOf = (args: Arguments, name: string | SQL): SQL => sql`(
  select id from users where lower_name = ${args.text(lowered(name))}
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
        where ${reviews.issueId} = ${issues.id} and ${isAsked(userId)}
      )
      or ${isTeamAsked(sql`${issues.id}`, userId)}
    )`,
    reviewed: sql`exists (
      select 1 from ${reviews}
      where ${reviews.issueId} = ${issues.id} and ${isSubmittedBy(userId)}
    )`,
  })[role];

/** The condition, on the `reviews` rows of a query, that a user is asked, and did not approve or reject since. */
const isAsked = (userId: SQL): SQL => sql`(
  ${reviews.reviewerId} = ${userId}
  and ${reviews.state} = 'request_review'
  and not exists (
    select 1 from reviews later
    where later.issue_id = ${reviews.issueId}
      and later.id > ${reviews.id}
      and later.reviewer_id = ${userId}
      and later.state in ('approved', 'request_changes')
  )
)`;

const isSubmittedBy = (userId: SQL): SQL => sql`(
  ${reviews.reviewerId} = ${userId}
  and ${reviews.state} in ('approved', 'request_changes', 'comment')
)`;

/** Selects the ids of the pull requests that a user reviewed, or was asked to, as `issue_id`. */
export const reviewedBy = (role: "review_requested" | "reviewed", userId: SQL): SQL =>
  role === "reviewed"
    ? sql`select distinct issue_id from ${reviews} where ${isSubmittedBy(userId)}`
    : sql`
        select issue_id from ${reviews} where ${isAsked(userId)}
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

/** The condition that an issue has a label of one of some names. */
export const hasLabelOf = (args: Arguments, names: readonly string[]): SQL => sql`exists (
  select 1 from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
  where ${issueLabels.issueId} = ${issues.id} and ${labels.name} in ${args.list(names)}
)`;

/** The condition that an issue has a milestone of a title. */
const hasMilestoneOf = (args: Arguments, title: string): SQL => sql`exists (
  select 1 from milestones m where m.id = ${issues.milestoneId} and m.title = ${args.text(title)}
)`;

export const isUpdatedIn = ({ since, before }: Pick<IssueFilter, "since" | "before">): SQL[] => [
  ...(since === undefined ? [] : [sql`${issues.updatedAt} >= ${integer(since)}`]),
  ...(before === undefined ? [] : [sql`${issues.updatedAt} <= ${integer(before)}`]),
];

/** Conditions of a filter by what they ask for, so that an index that implies one can do without it. */
export type Conditions = ReadonlyMap<string, SQL>;

/** The keys of conditions. */
export const keyOf = {
  labels: "labels",
  requiredLabel: (name: string) => `label:${name}`,
  milestones: "milestones",
  requiredMilestone: (title: string) => `milestone:${title}`,
  labelId: (id: number) => `label-id:${id}`,
  milestoneId: "milestone-id",
  base: "base",
  person: (at: number) => `person:${at}`,
};

function* pullConditions(args: Arguments, wanted: PullFilter): Generator<[string, SQL]> {
  const { base, head, isMerged } = wanted;
  if (base !== undefined) {
    yield [keyOf.base, isPullWith(sql`${pulls.baseBranch} = ${args.text(base)}`)];
  }
  if (head !== undefined) {
    yield ["head", isPullWith(sql`${pulls.headBranch} = ${args.text(head)}`)];
  }
  if (isMerged !== undefined) {
    const not = sql.raw(isMerged ? "not" : "");
    yield ["merged", isPullWith(sql`${pulls.mergedAt} is ${not} null`)];
  }
  if (wanted.isDraft !== undefined)
    yield ["draft", wanted.isDraft ? hasDraftTitle : sql`not ${hasDraftTitle}`];
}

/** The conditions of a filter that are the same in one repository and in all. */
export function commonConditions(args: Arguments, filter: IssueFilter): Map<string, SQL> {
  const conditions = new Map<string, SQL>();
  for (const name of filter.requiredLabels) {
    conditions.set(keyOf.requiredLabel(name), hasLabelOf(args, [name]));
  }
  for (const title of filter.requiredMilestones) {
    conditions.set(keyOf.requiredMilestone(title), hasMilestoneOf(args, title));
  }
  for (const [at, { role, name }] of filter.people.entries()) {
    conditions.set(keyOf.person(at), hasPerson(role, userIdOf(args, name)));
  }
  for (const id of filter.labelIds ?? []) {
    const isLabel = sql`${issueLabels.labelId} = ${integer(id)}`;
    conditions.set(
      keyOf.labelId(id),
      sql`exists (
        select 1 from ${issueLabels} where ${issueLabels.issueId} = ${issues.id} and ${isLabel}
      )`,
    );
  }
  if (filter.milestoneId !== undefined) {
    conditions.set(keyOf.milestoneId, sql`+${issues.milestoneId} = ${integer(filter.milestoneId)}`);
  }
  for (const [key, condition] of pullConditions(args, filter.pull ?? {})) {
    conditions.set(key, condition);
  }
  for (const missing of filter.without) conditions.set(`no:${missing}`, isWithout(missing));
  if (filter.excludedLabels.length > 0) {
    conditions.set("excluded", sql`not ${hasLabelOf(args, filter.excludedLabels)}`);
  }
  const range = isUpdatedIn(filter);
  // Without an index, so that the order of the list chooses it.
  const isInRange = range.map((each) => sql`(${each}) is true`);
  if (range.length > 0) conditions.set("updated", allOf(...isInRange));
  return conditions;
}
