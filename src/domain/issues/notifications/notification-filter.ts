import { sql, type SQL } from "drizzle-orm";

import { isRepositoryAllowed } from "../../../auth/access/visible-repositories.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import type { PrincipalSql } from "../../../auth/principal.ts";
import { allOf } from "../../../db/db.ts";
import type { Params } from "../../../db/prepared.ts";
import {
  notificationCounts,
  repositories,
  type Notification,
  type NotificationStatus,
} from "../../../db/schema/index.ts";

export type NotificationSubjectKind = Notification["subject"];

export const NOTIFICATION_STATUSES = ["unread", "read", "pinned"] as const;
export const NOTIFICATION_SUBJECTS = ["issue", "pull", "commit", "repository", "release"] as const;

/** The filter of a list of notifications. */
export type NotificationFilter = NotificationRange & NotificationKinds;

/** The part of a filter whose values are bound. */
export interface NotificationRange {
  readonly userId: number;
  /** All repositories if undefined. */
  readonly repoId?: number | undefined;
  /** Only those updated at or after this time, in milliseconds. */
  readonly since?: number | undefined;
  /** Only those updated before this time, in milliseconds. */
  readonly before?: number | undefined;
}

/** The part of a filter that is in the text of the SQL. */
export interface NotificationKinds {
  readonly statuses: readonly NotificationStatus[];
  readonly subjects: readonly NotificationSubjectKind[];
}

/**
 * A range in a condition: its values, the parameters of a prepared query, or a user whom the query
 * itself finds.
 */
export type NotificationRangeSql =
  | NotificationRange
  | Params<NotificationRange>
  | {
      readonly userId: SQL;
      readonly repoId?: undefined;
      readonly since?: undefined;
      readonly before?: undefined;
    };

/**
 * The parts of a filter as a prepared query takes them; each kind once, so that there are few
 * shapes.
 */
export const splitFilter = ({ statuses, subjects, ...range }: NotificationFilter) => ({
  range,
  kinds: {
    statuses: NOTIFICATION_STATUSES.filter((status) => statuses.includes(status)),
    subjects: NOTIFICATION_SUBJECTS.filter((subject) => subjects.includes(subject)),
  },
});

/** The access that a reader of a thread needs, by its subject. */
export const REQUIREMENT_OF: Readonly<Record<NotificationSubjectKind, Requirement>> = {
  issue: { unit: "issues", mode: "read" },
  pull: { unit: "pulls", mode: "read" },
  commit: { unit: "code", mode: "read" },
  release: { unit: "releases", mode: "read" },
  repository: { mode: "read" },
};

/**
 * Selects the repositories and subjects of which the user has notifications that the caller may see
 * now, with their number: `repo_id`, `subject`, `count`.
 *
 * SECURITY: everything that is listed, counted or marked is limited to these. A user who lost
 * access to a repository learns nothing more of its issues, and finds the threads again if access
 * returns.
 *
 * Cost: rows of counters, one for each repository, subject and status, however many notifications
 * there are.
 */
export function visibleCounts(
  principal: PrincipalSql,
  { userId, repoId }: NotificationRangeSql,
  { statuses, subjects }: NotificationKinds,
): SQL {
  const cases = subjects.map(
    (subject) =>
      sql`when ${wordSql(subject)} then ${isRepositoryAllowed(principal, REQUIREMENT_OF[subject])}`,
  );
  const isListed = allOf(
    sql`${notificationCounts.userId} = ${userId}`,
    sql`${notificationCounts.status} in ${wordList(statuses)}`,
    sql`${notificationCounts.subject} in ${wordList(subjects)}`,
    repoId === undefined ? undefined : sql`${notificationCounts.repoId} = ${repoId}`,
    sql`case ${notificationCounts.subject} ${sql.join(cases, sql` `)} end`,
  );
  return sql`
    select ${notificationCounts.repoId}, ${notificationCounts.subject},
      sum(${notificationCounts.count}) as count
    from ${notificationCounts}
    join ${repositories} on ${repositories.id} = ${notificationCounts.repoId}
    where ${isListed}
    group by ${notificationCounts.repoId}, ${notificationCounts.subject}`;
}

/**
 * A status or subject in the text of a statement: many ranges name them, and a statement binds 100
 * values at most.
 */
export const wordSql = (word: NotificationStatus | NotificationSubjectKind): SQL =>
  sql.raw(`'${word}'`);

export const wordList = (words: readonly (NotificationStatus | NotificationSubjectKind)[]): SQL =>
  sql`(${sql.join(words.map(wordSql), sql`, `)})`;
