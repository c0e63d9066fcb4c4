import { sql } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { eligibleUserIds } from "../../auth/access/people.ts";
import { isAllowed } from "../../auth/access/permission.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf } from "../../db/db.ts";
import { users } from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isAccountNamed } from "../accounts/find-account.ts";

/**
 * Selects the user with a name: one whom the caller may see, or one with a role in the repository for its
 * administrators.
 */
export function selectTimeUser(ctx: Ctx, repo: RepositoryContext, name: string) {
  const administers = isAllowed(repo, { mode: "admin" }) && !ctx.actor.scopes.isPublicOnly;
  const hasRole = sql`${users.id} in ${eligibleUserIds(repo.row, "read", ["issues", "pulls"])}`;
  const isKnown = anyOf(
    isAccountVisible(principalOf(ctx.actor)),
    administers ? hasRole : undefined,
  );
  return ctx.db
    .select()
    .from(users)
    .where(allOf(isAccountNamed(name), sql`${users.kind} = 'user'`, isKnown));
}
