import { and, asc, count, desc, eq, sql } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { isRepositoryVisible, seesEverythingPublic } from "../../auth/access/visible-repositories.ts";
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

type Marks = typeof stars | typeof watches;

/** What a user has starred, newest star first. */
export const listStarred = (ctx: Ctx, user: User, slice: Slice) =>
  listMarked(ctx, user, stars, users.starCount, slice);

/** What a user watches, newest watch first. */
export const listWatched = (ctx: Ctx, user: User, slice: Slice) =>
  listMarked(ctx, user, watches, users.watchCount, slice);

/** Who has starred a repository. */
export const listStargazers = (ctx: Ctx, repo: Repository, slice: Slice) =>
  listMarkers(ctx, repo, stars, slice);

/** Who watches a repository. */
export const listWatchers = (ctx: Ctx, repo: Repository, slice: Slice) =>
  listMarkers(ctx, repo, watches, slice);

/**
 * The repositories a user put a mark on, as far as the caller may see them.
 *
 * The total is the stored count less the marks the caller may not see. Those are found among the
 * marks on repositories that are not public, by an index of their own: a page reads as many rows
 * as it shows and passes over, however many marks there are. Callers who don't see every public
 * repository have each mark looked at.
 */
async function listMarked(
  ctx: Ctx,
  user: User,
  marks: Marks,
  stored: typeof users.starCount | typeof users.watchCount,
  { size, offset }: Slice,
): Promise<Listed<RepositoryContext>> {
  const isPublic = eq(marks.visibility, "public");
  const isVisible = sql`exists (
    select 1
    from ${repositories}
    where ${repositories.id} = ${marks.repoId} and ${isRepositoryVisible(ctx.actor)}
  )`;
  const isShown = seesEverythingPublic(ctx.actor) ? sql`(${isPublic} or ${isVisible})` : isVisible;
  const mayBeHidden = seesEverythingPublic(ctx.actor) ? sql`${marks.visibility} <> 'public'` : undefined;

  const isTheirs = eq(marks.userId, user.id);
  // A table of its own, so that the page decides what is read, and not an index that serves the order.
  const page = ctx.db
    .select({ id: marks.repoId, markedAt: sql<number>`${marks.createdAt}`.as("marked_at") })
    .from(marks)
    .where(and(isTheirs, isShown))
    .orderBy(desc(marks.createdAt), desc(marks.repoId))
    .limit(size)
    .offset(offset)
    .as("page");
  const [rows, [all], [hidden]] = await ctx.db.batch([
    selectRepositories(ctx.db, callerSql(ctx.actor))
      .innerJoin(page, eq(page.id, repositories.id))
      .orderBy(desc(page.markedAt), desc(page.id)),
    ctx.db
      .select({ n: sql<number>`${stored}`.as("n") })
      .from(users)
      .where(eq(users.id, user.id)),
    ctx.db
      .select({ n: count().as("n") })
      .from(marks)
      .where(and(isTheirs, mayBeHidden, sql`not ${isVisible}`)),
  ]);
  return {
    items: rows.map((row) => toRepositoryContext(ctx.actor, row)),
    total: (all?.n ?? 0) - (hidden?.n ?? 0),
  };
}

/** The users who put a mark on a repository, as far as the caller may see them, by id. */
async function listMarkers(
  ctx: Ctx,
  repo: Repository,
  marks: Marks,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const isListed = and(eq(marks.repoId, repo.id), isAccountVisible(ctx.actor));
  const [rows, [counted]] = await ctx.db.batch([
    ctx.db
      .select({ user: columnsOf(users, "u") })
      .from(marks)
      .innerJoin(users, eq(users.id, marks.userId))
      .where(isListed)
      .orderBy(asc(marks.userId))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: count().as("total") })
      .from(marks)
      .innerJoin(users, eq(users.id, marks.userId))
      .where(isListed),
  ]);
  return { items: rows.map(({ user }) => user), total: counted?.total ?? 0 };
}
