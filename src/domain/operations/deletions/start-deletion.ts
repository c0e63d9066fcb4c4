import { and, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { accountDeletions, users } from "../../../db/schema/index.ts";
import { isBeingDeleted } from "../../people/accounts/is-being-deleted.ts";

/**
 * Starts the deletion of an account if a condition holds; a purge of one that is under way makes it
 * a purge.
 */
export const startDeletion = (ctx: Ctx, accountId: number, isPurge: boolean, mayGo: SQL) =>
  insertSelect(
    ctx.db,
    accountDeletions,
    {
      accountId: users.id,
      isPurge,
      requesterId: ctx.actor.user?.id ?? 0,
      rootUrl: ctx.publicUrl,
      visibility: users.visibility,
      isLoginProhibited: users.isLoginProhibited,
      createdAt: ctx.now,
    },
    sql`from ${users} where ${users.id} = ${accountId} and ${mayGo}`,
  ).onConflictDoUpdate({
    target: accountDeletions.accountId,
    set: { isPurge: sql`${accountDeletions.isPurge} or excluded.is_purge` },
  });

/**
 * Hides an account that is being deleted, with its repositories, and keeps everybody from signing
 * in to it. Forks of these stay as they are: they outlive them.
 */
export const closeAccount = (ctx: Ctx, accountId: number) =>
  ctx.db
    .update(users)
    .set({ visibility: "private", isLoginProhibited: true, updatedAt: ctx.now })
    .where(and(eq(users.id, accountId), isBeingDeleted(sql`${users.id}`)));
