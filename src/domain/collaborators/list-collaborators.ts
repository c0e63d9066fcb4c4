import { asc, sql } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { selectCollaboratorPage } from "../../auth/access/collaborators.ts";
import { eligibleUserIds } from "../../auth/access/people.ts";
import { isAllowed } from "../../auth/access/permission.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, columnsOf } from "../../db/db.ts";
import { users, type User } from "../../db/schema/index.ts";
import { forbidden } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists the collaborators of a repository that the caller may know, oldest first. */
export async function listCollaborators(
  ctx: Ctx,
  repo: RepositoryContext,
  slice: Slice,
): Promise<Listed<User>> {
  const [rows, [counted]] = await ctx.db.batch(
    selectCollaboratorPage(ctx.db, repo.row.id, isKnown(ctx, repo), slice),
  );
  return { items: rows.map(({ user }) => user), total: counted?.total ?? 0 };
}

/** Lists the users whom issues and pull requests of a repository may be assigned to, by name, the owner last. */
export const listAssignees = (ctx: Ctx, repo: RepositoryContext, slice: Slice) =>
  listEligible(ctx, repo, eligibleUserIds(repo.row, "write", ["issues", "pulls"]), slice);

/**
 * Lists the users whose review of a pull request may be requested, by name, the owner last.
 *
 * @throws Failure `forbidden` unless the caller is one of them or administers the repository.
 */
export async function listReviewers(
  ctx: Ctx,
  repo: RepositoryContext,
  slice: Slice,
): Promise<Listed<User>> {
  const ids = eligibleUserIds(repo.row, "read", ["pulls"]);
  const [listed, [self]] = await Promise.all([
    listEligible(ctx, repo, ids, slice),
    ctx.db.all(sql`select 1 where ${ctx.actor.user?.id ?? null} in ${ids}`),
  ]);
  if (!self && !isAllowed(repo, { mode: "admin" })) {
    throw forbidden("doer has no permission to get reviewers");
  }
  return listed;
}

async function listEligible(
  ctx: Ctx,
  repo: RepositoryContext,
  ids: ReturnType<typeof eligibleUserIds>,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const isListed = allOf(sql`${users.id} in ${ids}`, sql`${users.isActive}`, isKnown(ctx, repo));
  const [rows, [counted]] = await ctx.db.batch([
    ctx.db
      .select({ user: columnsOf(users, "u") })
      .from(users)
      .where(isListed)
      .orderBy(sql`${users.id} = ${repo.row.ownerId}`, asc(users.lowerName))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: sql<number>`count(*)`.as("total") })
      .from(users)
      .where(isListed),
  ]);
  return { items: rows.map(({ user }) => user), total: counted?.total ?? 0 };
}

/**
 * The condition for a user who has a role in a repository and whom the caller may know.
 *
 * SECURITY: administrators of the repository know everybody with a role there; others see no account that is hidden from
 * them.
 */
const isKnown = (ctx: Ctx, repo: RepositoryContext) =>
  isAllowed(repo, { mode: "admin" }) && !ctx.actor.scopes.isPublicOnly
    ? sql`1`
    : isAccountVisible(principalOf(ctx.actor));
