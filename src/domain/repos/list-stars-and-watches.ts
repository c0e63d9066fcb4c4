import { and, asc, count, desc, eq, sql } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import {
  isRepositoryVisible,
  seesEverythingPublic,
} from "../../auth/access/visible-repositories.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import {
  repositories,
  stars,
  users,
  watches,
  type Repository,
  type User,
} from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { selectRepositories, toRepositoryContext } from "./find-repository.ts";

type ToggleTable = typeof stars | typeof watches;

/** Lists the repositories that a user has starred, newest star first. */
export const listStarred = (ctx: Ctx, user: User, slice: Slice) =>
  listToggled(ctx, user, stars, users.starCount, slice);

/** Lists the repositories that a user watches, newest watch first. */
export const listWatched = (ctx: Ctx, user: User, slice: Slice) =>
  listToggled(ctx, user, watches, users.watchCount, slice);

/** Lists the users who have starred a repository. */
export const listStargazers = (ctx: Ctx, repo: Repository, slice: Slice) =>
  listTogglers(ctx, repo, stars, slice);

/** Lists the users who watch a repository. */
export const listWatchers = (ctx: Ctx, repo: Repository, slice: Slice) =>
  listTogglers(ctx, repo, watches, slice);

/**
 * Lists the repositories that a user starred or watches and that the caller may see.
 *
 * The total is the stored counter minus the toggles on repositories that the caller may not see. A partial
 * index on toggles of non-public repositories finds these: a page reads only the rows that it returns and
 * skips, however many toggles the user has. For a caller who does not see every public repository, every
 * toggle is checked.
 */
async function listToggled(
  ctx: Ctx,
  user: User,
  toggles: ToggleTable,
  stored: typeof users.starCount | typeof users.watchCount,
  { size, offset }: Slice,
): Promise<Listed<RepositoryContext>> {
  const isPublic = eq(toggles.visibility, "public");
  const isVisible = sql`exists (
    select 1
    from ${repositories}
    where ${repositories.id} = ${toggles.repoId} and ${isRepositoryVisible(ctx.actor)}
  )`;
  const isShown = seesEverythingPublic(ctx.actor) ? sql`(${isPublic} or ${isVisible})` : isVisible;
  const mayBeHidden = seesEverythingPublic(ctx.actor)
    ? sql`${toggles.visibility} <> 'public'`
    : undefined;

  const isOfUser = eq(toggles.userId, user.id);
  // A derived table, so that the page limits the rows read, rather than an index that serves the order.
  const page = ctx.db
    .select({ id: toggles.repoId, toggledAt: sql<number>`${toggles.createdAt}`.as("marked_at") })
    .from(toggles)
    .where(and(isOfUser, isShown))
    .orderBy(desc(toggles.createdAt), desc(toggles.repoId))
    .limit(size)
    .offset(offset)
    .as("page");
  const [rows, [all], [hidden]] = await ctx.db.batch([
    selectRepositories(ctx.db, callerSql(ctx.actor))
      .innerJoin(page, eq(page.id, repositories.id))
      .orderBy(desc(page.toggledAt), desc(page.id)),
    ctx.db
      .select({ n: sql<number>`${stored}`.as("n") })
      .from(users)
      .where(eq(users.id, user.id)),
    ctx.db
      .select({ n: count().as("n") })
      .from(toggles)
      .where(and(isOfUser, mayBeHidden, sql`not ${isVisible}`)),
  ]);
  return {
    items: rows.map((row) => toRepositoryContext(ctx.actor, row)),
    total: (all?.n ?? 0) - (hidden?.n ?? 0),
  };
}

/** Lists the users who starred or watch a repository and whom the caller may see, by id. */
async function listTogglers(
  ctx: Ctx,
  repo: Repository,
  toggles: ToggleTable,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const isListed = and(eq(toggles.repoId, repo.id), isAccountVisible(ctx.actor));
  const [rows, [counted]] = await ctx.db.batch([
    ctx.db
      .select({ user: columnsOf(users, "u") })
      .from(toggles)
      .innerJoin(users, eq(users.id, toggles.userId))
      .where(isListed)
      .orderBy(asc(toggles.userId))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: count().as("total") })
      .from(toggles)
      .innerJoin(users, eq(users.id, toggles.userId))
      .where(isListed),
  ]);
  return { items: rows.map(({ user }) => user), total: counted?.total ?? 0 };
}
