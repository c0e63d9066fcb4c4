import { and, asc, eq, lte, sql, type SQL } from "drizzle-orm";

import { ANONYMOUS } from "../../../auth/actor.ts";
import {
  deleteSomeGrants,
  isMemberAnywhere,
  selectMembershipsOf,
} from "../../../auth/access/departures.ts";
import {
  deleteMemberWithoutTeam,
  deleteTeamMemberships,
} from "../../../auth/access/memberships.ts";
import { isOnlyOwner } from "../../../auth/access/organizations.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { flagColumn, isViolation } from "../../../db/db.ts";
import {
  accountDeletions,
  follows,
  hooks,
  OWNER_PERMISSION,
  repositories,
  stars,
  users,
  watches,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { log } from "../../../lib/log.ts";
import { recordAuditIfChanged, recordAuditWhere } from "../../people/audit/record-audit.ts";
import { deleteSomePackages, ownsPackages } from "../../packages/package/delete-some-packages.ts";
import { deleteRepository } from "../../repos/repository/delete-repository.ts";
import { forksFollow } from "../../people/visibility/fork-visibility.ts";
import { deleteHook } from "../../exchange/webhooks/hooks/delete-hook.ts";
import { deleteSomeComments, releaseSomePosts } from "./release-posts.ts";
import { closeAccount, startDeletion } from "./start-deletion.ts";

/** How long a worker has for its steps before another one takes over, in milliseconds. */
const LEASE_MS = 2 * 60 * 1000;
/** Repositories, memberships and webhooks that one step deletes. */
const THINGS_AT_ONCE = 5;
/** Rows of one table that one step deletes: a statement of D1 ends after 30 seconds. */
const ROWS_AT_ONCE = 1000;

/** Steps that a run may still take. */
interface StepsLeft {
  left: number;
}

/** The result of a run: the account is deleted, is kept after all, or needs another run. */
type Outcome = "deleted" | "cancelled" | "unfinished";

type Deletion = typeof accountDeletions.$inferSelect;

/**
 * Runs steps of the deletion of an account, as far as the budget goes. Each step may be repeated: a
 * Worker that dies between two of them leaves the rest to the next run.
 *
 * @returns `deleted` also for an account that is already gone, `unfinished` also while another
 *   worker runs the steps.
 */
export async function runDeletion(
  ctx: Ctx,
  [[deletion], [account], [requester]]: LeasedRows,
  budget: StepsLeft,
): Promise<Outcome> {
  if (!account) return "deleted";
  if (!deletion) return "unfinished";
  const actor = ctx.actor.user
    ? ctx.actor
    : { ...ANONYMOUS, user: requester, credential: "system" as const };
  const stepCtx: Ctx = { ...ctx, actor, publicUrl: deletion.rootUrl };
  while (budget.left > 0) {
    budget.left -= 1;
    const outcome = await runStep(stepCtx, account, deletion, budget);
    if (outcome !== "unfinished") return outcome;
  }
  await ctx.db
    .update(accountDeletions)
    .set({ leasedUntil: 0 })
    .where(eq(accountDeletions.accountId, account.id));
  return "unfinished";
}

/** The statements that lease a deletion, for the batch that starts it or one of their own. */
export function leaseDeletion({ db, now }: Ctx, accountId: number) {
  const isThis = eq(accountDeletions.accountId, accountId);
  const requesterId = db
    .select({ id: accountDeletions.requesterId })
    .from(accountDeletions)
    .where(isThis);
  return [
    db
      .update(accountDeletions)
      .set({ leasedUntil: now + LEASE_MS })
      .where(and(isThis, lte(accountDeletions.leasedUntil, now)))
      .returning(),
    db.select().from(users).where(eq(users.id, accountId)),
    db
      .select()
      .from(users)
      .where(sql`${users.id} = ${requesterId}`),
  ] as const;
}

/** The rows that the statements of `leaseDeletion` return. */
type LeasedRows = readonly [readonly Deletion[], readonly User[], readonly User[]];

/**
 * One step: some of what belongs to the account, from the largest to the smallest, and at last the
 * account.
 */
async function runStep(
  ctx: Ctx,
  account: User,
  deletion: Deletion,
  budget: StepsLeft,
): Promise<Outcome> {
  const { db } = ctx;
  const findThings = batch(db, {
    owned: db
      .select()
      .from(repositories)
      .where(eq(repositories.ownerId, account.id))
      .orderBy(asc(repositories.id))
      .limit(THINGS_AT_ONCE),
    memberships: selectMembershipsOf(db, account.id, THINGS_AT_ONCE),
    hooks: db.select({ id: hooks.id }).from(hooks).where(eq(hooks.ownerId, account.id)).limit(1),
    publishers: db
      .select({ ownsPackages: flagColumn(ownsPackages(account.id), "owns_packages") })
      .from(users)
      .where(eq(users.id, account.id)),
  });
  // Without a purge, a repository or membership keeps the account: nothing is deleted meanwhile.
  const deleteMeanwhile = deletion.isPurge ? deleteSomeRows(ctx, account, true) : undefined;
  const [found, areLeft] = await Promise.all([findThings, deleteMeanwhile]);
  const { owned, memberships } = found;
  const isInUse = owned.length + memberships.length > 0 || found.publishers[0]?.ownsPackages;
  if (!deletion.isPurge && isInUse) {
    return cancel(ctx, account, deletion);
  }
  const [hook] = found.hooks;
  for (const row of owned) {
    await deleteRepository(ctx, { row, owner: account, permission: OWNER_PERMISSION });
  }
  if (owned.length > 0) return "unfinished";
  for (const { orgId, isOnlyOwner: isOrphaned } of memberships) {
    if (isOrphaned) await deleteOrphaned(ctx, account, orgId, budget);
    else await leaveOrganization(ctx, account, orgId);
  }
  if (memberships.length > 0) return "unfinished";
  if (hook) {
    const level = account.kind === "organization" ? "organization" : "user";
    await deleteHook(ctx, { level, owner: account }, hook.id);
    return "unfinished";
  }
  if (areLeft ?? (await deleteSomeRows(ctx, account, false))) return "unfinished";
  return deleteLast(ctx, account, deletion);
}

/** Deletes an organization that would stay without an owner. The membership goes with it. */
async function deleteOrphaned(
  ctx: Ctx,
  { id: ownerId }: User,
  orgId: number,
  budget: StepsLeft,
): Promise<void> {
  const { leased } = await batch(ctx.db, {
    started: startDeletion(ctx, orgId, true, isOnlyOwner(orgId, ownerId)),
    closed: closeAccount(ctx, orgId),
    leased: leaseDeletion(ctx, orgId),
  });
  await runDeletion(ctx, leased, budget);
}

async function leaveOrganization(ctx: Ctx, { id: userId }: User, orgId: number): Promise<void> {
  await ctx.db.batch([
    deleteTeamMemberships(ctx.db, orgId, userId),
    deleteMemberWithoutTeam(ctx.db, orgId, userId),
    recordIfChanged(ctx, {
      type: "organization.member_removed",
      ownerId: orgId,
      userId,
      teamId: null,
    }),
    recordAuditIfChanged(ctx, { kind: "organization.member_removed", ownerId: orgId, userId }),
  ]);
}

/**
 * Deletes rows of tables in which an account may have very many. The last ones are deleted with the
 * account.
 *
 * @returns Whether there may be more.
 */
async function deleteSomeRows({ db }: Ctx, { id }: User, isPurge: boolean): Promise<boolean> {
  const some = (isOwn: SQL, table: SQL) =>
    sql`rowid in (select rowid from ${table} where ${isOwn} limit ${ROWS_AT_ONCE})`;
  const results = await db.batch([
    db.delete(stars).where(some(eq(stars.userId, id), sql`${stars}`)),
    db.delete(watches).where(some(eq(watches.userId, id), sql`${watches}`)),
    db.delete(follows).where(some(eq(follows.followerId, id), sql`${follows}`)),
    db.delete(follows).where(some(eq(follows.followedId, id), sql`${follows}`)),
    ...deleteSomePackages(db, id, ROWS_AT_ONCE),
    ...deleteSomeGrants(db, id, ROWS_AT_ONCE),
    ...(isPurge ? [deleteSomeComments(db, id, ROWS_AT_ONCE)] : []),
    ...releaseSomePosts(db, id, ROWS_AT_ONCE, { keepsComments: isPurge }),
  ]);
  return results.some(({ meta }) => meta.changes >= ROWS_AT_ONCE);
}

/** Deletes the row of the account, and with it all rows that refer to it. */
async function deleteLast(ctx: Ctx, account: User, deletion: Deletion): Promise<Outcome> {
  const { db } = ctx;
  const { id: ownerId, name, kind } = account;
  const isPurged = deletion.isPurge;
  const isReady = sql`(
    ${isPurged}
    or not (${isMemberAnywhere(ownerId)} or ${ownsPackages(ownerId)})
  )`;
  const isThis = and(eq(users.id, ownerId), isReady);
  const isStill = sql`exists (select 1 from ${users} where ${isThis})`;
  try {
    const { deleted } = await batch(db, {
      audit: recordAuditWhere(
        ctx,
        kind === "user"
          ? { kind: "user.deleted", ownerId, details: { isPurged } }
          : { kind: "organization.deleted", ownerId },
        isStill,
      ),
      deleted: db.delete(users).where(isThis).returning({ id: users.id }),
      event: recordIfChanged(ctx, {
        type: kind === "user" ? "user.deleted" : "organization.deleted",
        ownerId,
        name,
      }),
    });
    if (deleted.length > 0) return "deleted";
  } catch (error) {
    // A repository refers to its owner without a cascade: one that has just come is not lost.
    if (!isViolation(error, "FOREIGN KEY")) throw error;
  }
  return isPurged ? "unfinished" : cancel(ctx, account, deletion);
}

/**
 * Gives an account back that has a repository, a package or a membership again, which only a purge
 * deletes.
 */
async function cancel(
  ctx: Ctx,
  { id }: User,
  { visibility, isLoginProhibited }: Deletion,
): Promise<Outcome> {
  const { db, now } = ctx;
  await db.batch([
    db.update(users).set({ visibility, isLoginProhibited, updatedAt: now }).where(eq(users.id, id)),
    ...forksFollow(ctx, { ownerId: id }),
    db.delete(accountDeletions).where(eq(accountDeletions.accountId, id)),
  ]);
  log("accounts:deletion-cancelled", { id });
  return "cancelled";
}
