import { and, asc, count, eq, isNotNull, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf, type Database, flagColumn, qualified } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  issueAssignees,
  issues,
  issueSubscriptions,
  notifications,
  reviews,
  timelineEntries,
  users,
  watches,
  type Issue,
  type User,
} from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered } from "../issue/find-issue.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** Lists the users who subscribed to an issue themselves and whom the caller may see, by id. */
export async function listSubscribers(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const { db, actor } = ctx;
  const list = { repoId: repo.row.id, number, principal: principalOf(actor), size, offset };
  const {
    issues: [issue],
    ...page
  } = await batch(db, subscriberPage(db, list));
  if (!issue || !isIssueVisible(repo, issue)) throw notFound();
  return toListedPage(page, ({ user }) => user);
}

/** An issue by its repository and number. */
interface IssueNumber {
  readonly repoId: number;
  readonly number: number;
}

const subscriberPage = prepareAll(
  (db, p: Params<IssueNumber & Slice & { principal: Principal }>) => {
    const isOfIssue = isNumbered(p.repoId, p.number);
    const isListed = and(
      sql`${issueSubscriptions.issueId} = (select ${issues.id} from ${issues} where ${isOfIssue})`,
      eq(issueSubscriptions.isSubscribed, true),
      isAccountVisible(p.principal),
    );
    return {
      issues: db.select({ isPull: issues.isPull }).from(issues).where(isOfIssue),
      rows: db
        .select({ user: columnsOf(users, "u") })
        .from(issueSubscriptions)
        .innerJoin(users, eq(users.id, issueSubscriptions.userId))
        .where(isListed)
        .orderBy(asc(issueSubscriptions.userId))
        .limit(p.size)
        .offset(p.offset),
      counted: db
        .select({ total: count().as("total") })
        .from(issueSubscriptions)
        .innerJoin(users, eq(users.id, issueSubscriptions.userId))
        .where(isListed),
    };
  },
);

/** An issue, and whether a user is subscribed to it. */
export interface IssueSubscription {
  readonly issue: Issue;
  readonly isSubscribed: boolean;
}

/**
 * Finds whether a user is subscribed to an issue: as they chose, otherwise if they watch the
 * repository or take part in the issue.
 *
 * @throws Failure `not_found` for an issue that the caller may not see.
 */
export async function findSubscription(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  { id: userId }: User,
): Promise<IssueSubscription> {
  const [found] = await subscriptionTo(ctx.db, { repoId: repo.row.id, number, userId });
  return toSubscription(repo, found);
}

/**
 * Subscribes a user to an issue, or unsubscribes them. Only administrators of the site do that for
 * others.
 *
 * @param name The user's name.
 * @returns Whether it changed.
 * @throws Failure `not_found`, `forbidden`
 */
export async function changeSubscription(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  { name, isSubscribed }: { name: string; isSubscribed: boolean },
): Promise<boolean> {
  const { db, actor, now } = ctx;
  const named = { repoId: repo.row.id, number, lowerName: name.toLowerCase() };
  const {
    users: [user],
    subscriptions: [found],
  } = await batch(db, subscriptionNamed(db, { ...named, principal: principalOf(actor) }));
  const current = toSubscription(repo, found);
  if (!user) throw notFound();
  if (user.id !== actor.user?.id && !actor.isSiteAdmin) {
    throw forbidden(
      `${actor.user?.name} is not permitted to change subscriptions for ${user.name}`,
    );
  }
  if (current.isSubscribed === isSubscribed) return false;
  await storeSubscription(ctx, current.issue.id, user.id, isSubscribed, now);
  return true;
}

/**
 * Subscribes the user of a notification to its issue, or unsubscribes them; nothing changes where
 * it is about no issue, or somebody else's.
 *
 * Cost: one round trip. It reads nothing of the issue, which its reader may not see any more.
 */
export async function changeNotifiedSubscription(
  { db, now }: Ctx,
  { id: userId }: User,
  notificationId: number,
  isSubscribed: boolean,
): Promise<void> {
  const isTheirs = and(
    eq(notifications.id, notificationId),
    eq(notifications.userId, userId),
    isNotNull(notifications.issueId),
  );
  await insertSelect(
    db,
    issueSubscriptions,
    { issueId: sql`${notifications.issueId}`, userId, isSubscribed, updatedAt: now },
    sql`from ${notifications} where ${isTheirs}`,
  ).onConflictDoUpdate(replaceChoice(isSubscribed, now));
}

const replaceChoice = (isSubscribed: boolean, now: number) => ({
  target: [issueSubscriptions.issueId, issueSubscriptions.userId],
  set: { isSubscribed, updatedAt: now },
});

/** The statement that stores the choice of a user for an issue. */
const storeSubscription = (
  { db }: Pick<Ctx, "db">,
  issueId: number,
  userId: number,
  isSubscribed: boolean,
  now: number,
) =>
  db
    .insert(issueSubscriptions)
    .values({ issueId, userId, isSubscribed, updatedAt: now })
    .onConflictDoUpdate(replaceChoice(isSubscribed, now));

/** Selects an issue, the choice of a user for it, and whether they are subscribed by default. */
const selectSubscription = (db: Database, { repoId, number }: Params<IssueNumber>, userId: SQL) =>
  db
    .select({
      issue: columnsOf(issues, "i"),
      chosen: qualified<boolean | null>(sql`(
        select ${issueSubscriptions.isSubscribed}
        from ${issueSubscriptions}
        where ${issueSubscriptions.issueId} = ${issues.id}
          and ${issueSubscriptions.userId} = ${userId}
      )`)
        .mapWith(issueSubscriptions.isSubscribed)
        .as("chosen"),
      isSubscribedByDefault: flagColumn(isSubscribedByDefault(userId), "is_subscribed_by_default"),
    })
    .from(issues)
    .where(isNumbered(repoId, number));

/** Selects an issue and whether a user is subscribed to it, for `toSubscription`. */
export const subscriptionTo = prepare(
  (db, { userId, ...issue }: Params<IssueNumber & { userId: number }>) =>
    selectSubscription(db, issue, userId),
);

/** Selects a user by name, if the caller may see them, and their subscription. */
const subscriptionNamed = prepareAll(
  (db, p: Params<IssueNumber & { lowerName: string; principal: Principal }>) => {
    const isNamed = and(eq(users.lowerName, p.lowerName), eq(users.kind, "user"));
    const userId = sql`(select ${users.id} from ${users} where ${isNamed})`;
    return {
      users: db
        .select()
        .from(users)
        .where(and(isNamed, isAccountVisible(p.principal))),
      subscriptions: selectSubscription(db, p, userId),
    };
  },
);

/**
 * The condition that a user watches the repository of an issue, opened it, is assigned, commented,
 * or reviews it.
 */
const isSubscribedByDefault = (userId: SQL): SQL => sql`(
  ${issues.posterId} = ${userId}
  or exists (
    select 1
    from ${watches}
    where ${watches.userId} = ${userId} and ${watches.repoId} = ${issues.repoId}
  )
  or exists (
    select 1
    from ${issueAssignees}
    where ${issueAssignees.issueId} = ${issues.id} and ${issueAssignees.userId} = ${userId}
  )
  or exists (
    select 1
    from ${timelineEntries}
    where ${timelineEntries.issueId} = ${issues.id}
      and ${timelineEntries.posterId} = ${userId}
      and ${timelineEntries.kind} = 'comment'
  )
  or exists (
    select 1
    from ${reviews}
    where ${reviews.issueId} = ${issues.id}
      and ${reviews.reviewerId} = ${userId}
      and ${reviews.state} <> 'pending'
  )
)`;

/** @throws Failure `not_found` for an issue that the caller may not see. */
export function toSubscription(
  repo: RepositoryContext,
  found: Awaited<ReturnType<typeof selectSubscription>>[number] | undefined,
): IssueSubscription {
  if (!found || !isIssueVisible(repo, found.issue)) throw notFound();
  return { issue: found.issue, isSubscribed: found.chosen ?? found.isSubscribedByDefault };
}
