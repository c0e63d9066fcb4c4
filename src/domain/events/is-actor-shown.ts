import { eq, sql, type SQL } from "drizzle-orm";

import type { Actor } from "../../auth/actor.ts";
import { isAccountVisible } from "../../auth/access/accounts.ts";
import { allOf, anyOf } from "../../db/db.ts";
import { users } from "../../db/schema/index.ts";

/**
 * The condition for a user whose doings may be told to the caller: one who neither hides nor keeps
 * their activity to themselves.
 */
export function isActorShown(actor: Actor): SQL {
  const isThere = sql`${users.id} is not null`;
  if (actor.isSiteAdmin) return isThere;
  const isOwn = actor.user && !actor.scopes.isPublicOnly ? eq(users.id, actor.user.id) : undefined;
  const isOpen = allOf(isAccountVisible(actor), eq(users.isActivityHidden, false));
  return allOf(isThere, anyOf(isOwn, isOpen));
}
