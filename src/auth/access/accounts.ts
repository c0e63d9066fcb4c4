import { eq, sql, type SQL } from "drizzle-orm";

import { anyOf } from "../../db/db.ts";
import { users, type User } from "../../db/schema/index.ts";
import { seesPublicOnly, type Actor } from "../actor.ts";
import { isMemberOf } from "./organizations.ts";

/** Whether `account` is visible to the caller. */
export function seesAccount(actor: Actor, account: User, isMember: boolean): boolean {
  if (account.visibility === "public") return true;
  if (seesPublicOnly(actor)) return false;
  if (actor.isSiteAdmin || actor.user?.id === account.id || isMember) return true;
  return account.visibility === "limited" && !actor.user?.isRestricted;
}

/** The rule of `seesAccount` as a condition on the `users` rows of a query. */
export function isAccountVisible(actor: Actor): SQL {
  if (actor.isSiteAdmin) return sql`1`;
  const isPublic = eq(users.visibility, "public");
  const userId = actor.user?.id;
  if (userId === undefined || seesPublicOnly(actor)) return isPublic;
  return anyOf(
    isPublic,
    eq(users.id, userId),
    actor.user?.isRestricted ? undefined : eq(users.visibility, "limited"),
    isMemberOf(sql`${users.id}`, sql`${userId}`),
  );
}
