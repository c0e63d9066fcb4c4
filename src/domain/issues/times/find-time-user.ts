import { sql } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { eligibleUserIds } from "../../../auth/access/people.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { allOf, anyOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { users } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isAccountNamed } from "../../people/accounts/find-account.ts";

/**
 * Selects the user with a name: one whom the caller may see, or one with a role in the repository
 * for its administrators.
 */
export function selectTimeUser(ctx: Ctx, repo: RepositoryContext, name: string) {
  const { id, ownerId } = repo.row;
  return timeUser(ctx.db, {
    principal: principalOf(ctx.actor),
    repo: { id, ownerId },
    administers: isAllowed(repo, { mode: "admin" }) && !ctx.actor.scopes.isPublicOnly,
    name: name.toLowerCase(),
  });
}

interface TimeUserQuery {
  readonly principal: Principal;
  readonly repo: { readonly id: number; readonly ownerId: number };
  readonly administers: boolean;
  readonly name: string;
}

const timeUser = prepare((db, { principal, repo, administers, name }: Params<TimeUserQuery>) => {
  const hasRole = sql`${users.id} in ${eligibleUserIds(repo, "read", ["issues", "pulls"])}`;
  const isKnown = anyOf(isAccountVisible(principal), administers ? hasRole : undefined);
  return db
    .select()
    .from(users)
    .where(allOf(isAccountNamed(name), sql`${users.kind} = 'user'`, isKnown));
});
