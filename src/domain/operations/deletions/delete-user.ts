import { and, eq, exists, lte, ne, sql, type SQL } from "drizzle-orm";

import { isMemberAnywhere } from "../../../auth/access/departures.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Database, flagColumn } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { accountDeletions, repositories, users, type User } from "../../../db/schema/index.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { isBeingDeleted } from "../../people/accounts/is-being-deleted.ts";
import { othersAdminister } from "../../people/accounts/last-administrator.ts";
import { ownsPackages } from "../../packages/package/delete-some-packages.ts";
import { leaseDeletion, runDeletion } from "./run-deletion.ts";
import { closeAccount, startDeletion } from "./start-deletion.ts";

/**
 * Steps that a request waits for; the schedule continues. A step takes at most six round trips of
 * D1.
 */
const REQUEST_STEPS_MAX = 20;
/**
 * Steps of one run of the schedule, which may call D1 a thousand times, and accounts that it looks
 * at.
 */
const SCHEDULE_STEPS_MAX = 120;
const SCHEDULE_ACCOUNTS_MAX = 20;

/**
 * Deletes a user.
 *
 * From the first step on, which decides, nobody signs in to the account, and it is private with its
 * repositories. Small accounts are gone at the end; the schedule continues the deletion of large
 * ones, and of those whose request died. A repeated call continues, too.
 *
 * @param isPurge Whether its repositories and packages are deleted too, its memberships, and the
 * organizations that nobody else owns.
 * @throws Failure `invalid` for the caller's own account and for the last administrator, and
 * without a purge while the account owns repositories or packages, or belongs to organizations.
 */
export async function deleteUser(
  ctx: Ctx,
  user: User,
  { isPurge }: { isPurge: boolean },
): Promise<void> {
  const { actor } = ctx;
  if (user.id === actor.user?.id || user.id === actor.sudoer?.id) {
    throw invalid("you cannot delete yourself");
  }
  await deleteInSteps(ctx, user, isPurge);
}

/**
 * Deletes the caller's own account, in the steps of `deleteUser`.
 *
 * SECURITY: the caller must have proven to be the user, not only to have a credential.
 *
 * @throws Failure `invalid` as `deleteUser` without a purge.
 */
export const deleteOwnAccount = (ctx: Ctx, user: User): Promise<void> =>
  deleteInSteps(ctx, user, false);

async function deleteInSteps(ctx: Ctx, user: User, isPurge: boolean): Promise<void> {
  const { found, leased } = await startUserDeletion(ctx, user, isPurge);
  if (found && !found.isStarted) {
    const { ownsRepositories, isPublishing, isMember } = found;
    if (ownsRepositories && !isPurge) throw stillOwning(user);
    if (isMember && !isPurge) throw stillMember(user);
    if (isPublishing && !isPurge) throw stillPublishing(user);
    throw invalid(`can not delete the last admin user [uid: ${user.id}]`);
  }
  const outcome = await runDeletion(ctx, leased, { left: REQUEST_STEPS_MAX });
  // A repository, package or membership that the account has had since the first step.
  if (outcome === "cancelled") throw stillOwning(user);
}

const stillOwning = ({ id }: User) =>
  invalid(`user still has ownership of repositories [uid: ${id}]`);
const stillMember = ({ id }: User) =>
  invalid(`user still has membership of organizations [uid: ${id}]`);
const stillPublishing = ({ id }: User) =>
  invalid(`user still has ownership of packages [uid: ${id}]`);

/**
 * Continues deletions whose request ended before they did. Safe to repeat and to run concurrently.
 */
export async function continueDeletions(ctx: Ctx): Promise<void> {
  const due = await ctx.db
    .select({ id: accountDeletions.accountId })
    .from(accountDeletions)
    .where(lte(accountDeletions.leasedUntil, ctx.now))
    .orderBy(accountDeletions.leasedUntil, accountDeletions.accountId)
    .limit(SCHEDULE_ACCOUNTS_MAX);
  const budget = { left: SCHEDULE_STEPS_MAX };
  for (const { id } of due) {
    if (budget.left === 0) return;
    const leased = await ctx.db.batch(leaseDeletion(ctx, id));
    await runDeletion(ctx, leased, budget);
  }
}

/** What keeps an account from being deleted without a purge. */
export interface DeletionObstacles {
  readonly ownsRepositories: boolean;
  readonly isMember: boolean;
  readonly isPublishing: boolean;
  readonly isLastAdministrator: boolean;
}

/** Finds what keeps a user from deleting their own account. */
export async function findDeletionObstacles({ db }: Ctx, { id }: User): Promise<DeletionObstacles> {
  const [found] = await obstaclesOf(db, { id });
  if (!found) throw notFound();
  return found;
}

const obstaclesOf = prepare((db, { id }: Params<{ id: number }>) =>
  db
    .select({
      ownsRepositories: flagColumn(ownsRepositories(db, id), "owns_repositories"),
      isMember: flagColumn(isMemberAnywhere(id), "is_member"),
      isPublishing: flagColumn(ownsPackages(id), "is_publishing"),
      isLastAdministrator: flagColumn(
        sql`(${users.isAdmin} and not ${othersAdminister(id)})`,
        "is_last",
      ),
    })
    .from(users)
    .where(eq(users.id, id)),
);

const ownsRepositories = (db: Database, ownerId: number | SQL) =>
  exists(
    db
      .select({ id: repositories.id })
      .from(repositories)
      .where(eq(repositories.ownerId, sql`${ownerId}`)),
  );

async function startUserDeletion(ctx: Ctx, user: User, isPurge: boolean) {
  const { db } = ctx;
  const isOwner = ownsRepositories(db, user.id);
  const isMember = isMemberAnywhere(user.id);
  const mayGo = sql`
    (not ${users.isAdmin} or ${othersAdminister(user.id)})
    and (${isPurge} or not (${isOwner} or ${isMember} or ${ownsPackages(user.id)}))`;
  const mayBegin = and(ne(users.kind, "organization"), mayGo) ?? mayGo;
  const { found, leased } = await batch(db, {
    started: startDeletion(ctx, user.id, isPurge, mayBegin),
    audit: recordAuditIfChanged(ctx, { kind: "user.deletion_requested", ownerId: user.id }),
    closed: closeAccount(ctx, user.id),
    found: db
      .select({
        isStarted: flagColumn(isBeingDeleted(sql`${users.id}`), "is_started"),
        ownsRepositories: flagColumn(isOwner, "owns_repositories"),
        isPublishing: flagColumn(ownsPackages(user.id), "is_publishing"),
        isMember: flagColumn(isMember, "is_member"),
      })
      .from(users)
      .where(eq(users.id, user.id)),
    leased: leaseDeletion(ctx, user.id),
  });
  // Without a row, another request has finished the deletion.
  return { found: found[0], leased };
}
