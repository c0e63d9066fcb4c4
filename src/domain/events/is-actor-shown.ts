import { principalOf } from "../../auth/principal.ts";
import { eq, sql, type SQL } from "drizzle-orm";

import type { Actor } from "../../auth/actor.ts";
import { isAccountVisible } from "../../auth/access/accounts.ts";
import { allOf, anyOf } from "../../db/db.ts";
import { users } from "../../db/schema/index.ts";

/**
 * The condition for a user whose actions may be shown to the caller: the user is visible to the caller and
 * does not hide their activity.
 */
export function isActorShown(actor: Actor): SQL {
  const exists = sql`${users.id} is not null`;
  if (actor.isSiteAdmin) return exists;
  const isOwn = actor.user && !actor.scopes.isPublicOnly ? eq(users.id, actor.user.id) : undefined;
  const isPublic = allOf(isAccountVisible(principalOf(actor)), eq(users.isActivityHidden, false));
  return allOf(exists, anyOf(isOwn, isPublic));
}
