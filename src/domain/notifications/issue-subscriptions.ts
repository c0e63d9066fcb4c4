import { and, asc, count, eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { type Principal, principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { batchBoth } from "../../db/batch-both.ts";
import { columnsOf, type Database, flagColumn, qualified } from "../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../db/prepared.ts";
import {
  issueAssignees,
  issues,
  issueSubscriptions,
  reviews,
  timelineEntries,
  users,
  watches,
  type Issue,
  type User,
} from "../../db/schema/index.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered } from "../issues/find-issue.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists the users who subscribed to an issue themselves and whom the caller may see, by id. */
export async function listSubscribers(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const { db, actor } = ctx;
  const list = { repoId: repo.row.id, number, principal: principalOf(actor), size, offset };
  const [[issue], rows, [counted]] = await db.batch(subscriberPage(db, list));
  if (!issue || !isIssueVisible(repo, issue)) throw notFound();
  return { items: rows.map(({ user }) => user), total: counted?.total ?? 0 };
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
    return [
      db.select({ isPull: issues.isPull }).from(issues).where(isOfIssue),
      db
        .select({ user: columnsOf(users, "u") })
        .from(issueSubscriptions)
        .innerJoin(users, eq(users.id, issueSubscriptions.userId))
        .where(isListed)
        .orderBy(asc(issueSubscriptions.userId))
        .limit(p.size)
        .offset(p.offset),
      db
        .select({ total: count().as("total") })
        .from(issueSubscriptions)
        .innerJoin(users, eq(users.id, issueSubscriptions.userId))
        .where(isListed),
    ];
  },
);

/** Whether a user is told of an issue, and the issue. */
export interface IssueSubscription {
  readonly issue: Issue;
  readonly isSubscribed: boolean;
}

/**
 * Finds whether a user is told of an issue: as they chose, otherwise if they watch the repository or take part in the
 * issue.
 *
 * @throws Failure `not_found` for an issue that the caller may not see.
 */
export async function findSubscription(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  { id: userId }: User,
): Promise<IssueSubscription> {
  const { db, directory } = ctx;
  const repoId = repo.row.id;
  const [[[watching]], [[found]]] = await batchBoth(
    [directory, [watchingOf(directory, { repoId, userId })]],
    [db, [subscriptionOf(db, { repoId, number, userId })]],
  );
  return toSubscription(repo, found, watching);
}

/**
 * Changes whether a user is told of an issue. Only administrators of the site change it for others.
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
  const { db, directory, actor, now } = ctx;
  const repoId = repo.row.id;
  const lowerName = name.toLowerCase();
  const [[[user], [watching]], [[found]]] = await batchBoth(
    [directory, watcherNamed(directory, { repoId, lowerName, principal: principalOf(actor) })],
    [db, [subscriptionNamed(db, { repoId, number, lowerName })]],
  );
  const current = toSubscription(repo, found, watching);
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

/** The statement that stores what a user chose for an issue. */
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
    .onConflictDoUpdate({
      target: [issueSubscriptions.issueId, issueSubscriptions.userId],
      set: { isSubscribed, updatedAt: now },
    });

/** What an issue's own database knows: what the user chose, and whether they take part. */
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
      takesPart: flagColumn(takesPart(userId), "takes_part"),
    })
    .from(issues)
    .where(isNumbered(repoId, number));

const subscriptionOf = prepare(
  (db, { userId, ...issue }: Params<IssueNumber & { userId: number }>) =>
    selectSubscription(db, issue, userId),
);

const subscriptionNamed = prepare(
  (db, { lowerName, ...issue }: Params<IssueNumber & { lowerName: string }>) =>
    selectSubscription(db, issue, idOfUser(lowerName)),
);

/** Selects whether a user watches a repository. */
const selectWatching = (db: Database, repoId: SQL, userId: SQL) =>
  db
    .select({
      isWatching: flagColumn(
        sql`exists (
          select 1
          from ${watches}
          where ${watches.userId} = ${userId} and ${watches.repoId} = ${repoId}
        )`,
        "is_watching",
      ),
    })
    .from(sql`(select 1)`);

const watchingOf = prepare((db, p: Params<{ repoId: number; userId: number }>) =>
  selectWatching(db, p.repoId, p.userId),
);

/** A user by name, if the caller may see them, and whether they watch a repository. */
const watcherNamed = prepareAll(
  (db, p: Params<{ repoId: number; lowerName: string; principal: Principal }>) => [
    db
      .select()
      .from(users)
      .where(and(isUserNamed(p.lowerName), isAccountVisible(p.principal))),
    selectWatching(db, p.repoId, idOfUser(p.lowerName)),
  ],
);

const isUserNamed = (lowerName: SQL) => and(eq(users.lowerName, lowerName), eq(users.kind, "user"));

const idOfUser = (lowerName: SQL): SQL =>
  sql`(select ${users.id} from ${users} where ${isUserNamed(lowerName)})`;

/** The condition that a user opened an issue, is assigned, commented, or reviews it. */
const takesPart = (userId: SQL): SQL => sql`(
  ${issues.posterId} = ${userId}
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

function toSubscription(
  repo: RepositoryContext,
  found: Awaited<ReturnType<typeof selectSubscription>>[number] | undefined,
  watching: { isWatching: boolean } | undefined,
): IssueSubscription {
  if (!found || !isIssueVisible(repo, found.issue)) throw notFound();
  const isConcerned = found.takesPart || watching?.isWatching === true;
  return { issue: found.issue, isSubscribed: found.chosen ?? isConcerned };
}
