import { eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import type { PrincipalSql } from "../../../auth/principal.ts";
import { allOf, anyOf } from "../../../db/db.ts";
import { users } from "../../../db/schema/index.ts";

/**
 * The condition for a user whose actions may be shown to the caller: the user is visible to the
 * caller and does not hide their activity.
 */
export function isActorShown(principal: PrincipalSql): SQL {
  const exists = sql`${users.id} is not null`;
  if (principal.isSiteAdmin) return exists;
  const { userId, isPublicOnly } = principal;
  const isOwn = userId !== undefined && !isPublicOnly ? eq(users.id, userId) : undefined;
  const isPublic = allOf(isAccountVisible(principal), eq(users.isActivityHidden, false));
  return allOf(exists, anyOf(isOwn, isPublic));
}
