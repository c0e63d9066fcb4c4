import { eq, sql, type SQL } from "drizzle-orm";

import { anyOf } from "../../db/db.ts";
import { users, type User } from "../../db/schema/index.ts";
import { JOBS_USER_ID, seesPublicOnly, type Actor } from "../actor.ts";
import type { PrincipalSql } from "../principal.ts";
import { isMemberOf } from "./organizations.ts";

/**
 * Whether `account` is visible to the caller.
 *
 * SECURITY: that of jobs is nobody's, not even an administrator's to edit, to delete or to add to
 * anything.
 */
export function seesAccount(actor: Actor, account: User, isMember: boolean): boolean {
  if (account.id === JOBS_USER_ID) return actor.user?.id === JOBS_USER_ID;
  if (account.visibility === "public") return true;
  if (seesPublicOnly(actor)) return false;
  if (actor.isSiteAdmin || actor.user?.id === account.id || isMember) return true;
  return account.visibility === "limited" && !actor.user?.isRestricted;
}

/** The rule of `seesAccount` as a condition on the `users` rows of a query. */
export function isAccountVisible(principal: PrincipalSql): SQL {
  if (principal.isSiteAdmin) return sql`${users.id} > 0`;
  const isPublic = eq(users.visibility, "public");
  const { userId } = principal;
  if (userId === undefined || principal.isPublicOnly) return isPublic;
  return anyOf(
    isPublic,
    eq(users.id, userId),
    principal.isRestricted ? undefined : eq(users.visibility, "limited"),
    isMemberOf(sql`${users.id}`, sql`${userId}`),
  );
}
