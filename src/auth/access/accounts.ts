import { eq, sql, type SQL } from "drizzle-orm";

import { anyOf } from "../../db/db.ts";
import { users, type User } from "../../db/schema/index.ts";
import { seesPublicOnly, type Actor } from "../actor.ts";
import type { PrincipalSql } from "../principal.ts";
import { isMemberOf } from "./organizations.ts";

/** Whether `account` is visible to the caller. */
export function seesAccount(actor: Actor, account: User, isMember: boolean): boolean {
  if (account.visibility === "public") return true;
  if (seesPublicOnly(actor)) return false;
  if (actor.isSiteAdmin || actor.user?.id === account.id || isMember) return true;
  return account.visibility === "limited" && !actor.user?.isRestricted;
}

/** The rule of `seesAccount` as a condition on the `users` rows of a query. */
export function isAccountVisible(principal: PrincipalSql): SQL {
  if (principal.isSiteAdmin) return sql`1`;
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
