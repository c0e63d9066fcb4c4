import { and, asc, count, desc, eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import {
  isRepositoryVisible,
  seesEverythingPublic,
} from "../../../auth/access/visible-repositories.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  repositories,
  stars,
  users,
  watches,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { selectRepositories, toRepositoryContext } from "./find-repository.ts";
import { type RepositoryPage, toRepositoryPage } from "./list-repositories.ts";

type Toggle = "star" | "watch";

/** The table of each, and the stored number of a user's. */
const TOGGLES: Readonly<Record<Toggle, { toggles: ToggleTable; stored: SQL }>> = {
  star: { toggles: stars, stored: sql`${users.starCount}` },
  watch: { toggles: watches, stored: sql`${users.watchCount}` },
};

type ToggleTable = typeof stars | typeof watches;

/** Lists the repositories that a user has starred, newest star first. */
export const listStarred = (ctx: Ctx, user: User, slice: Slice) =>
  listToggled(ctx, user, "star", slice);

/** Lists the repositories that a user watches, newest watch first. */
export const listWatched = (ctx: Ctx, user: User, slice: Slice) =>
  listToggled(ctx, user, "watch", slice);

/** Lists the users who have starred a repository. */
export const listStargazers = (ctx: Ctx, repo: Repository, slice: Slice) =>
  listTogglers(ctx, repo, "star", slice);

/** Lists the users who watch a repository. */
export const listWatchers = (ctx: Ctx, repo: Repository, slice: Slice) =>
  listTogglers(ctx, repo, "watch", slice);

/**
 * Lists the repositories that a user starred or watches and that the caller may see.
 *
 * The total is the stored counter minus the toggles on repositories that the caller may not see. A
 * partial index on toggles of non-public repositories finds these: a page reads only the rows that
 * it returns and skips, however many toggles the user has. For a caller who does not see every
 * public repository, every toggle is checked.
 */
async function listToggled(
  ctx: Ctx,
  { id }: User,
  toggle: Toggle,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  const { db, actor } = ctx;
  const { rows, stored, hidden } = await batch(
    db,
    toggledBy(db, { ...toRepositoryPage(ctx, slice), id }, { toggle }),
  );
  return {
    items: rows.map((row) => toRepositoryContext(actor, row)),
    total: (stored[0]?.n ?? 0) - (hidden[0]?.n ?? 0),
  };
}

type OfRow = Params<RepositoryPage & { id: number }>;

const toggledBy = prepareAll(
  (db, { principal, size, offset, id }: OfRow, { toggle }: { toggle: Toggle }) => {
    const { toggles, stored } = TOGGLES[toggle];
    const isPublic = eq(toggles.visibility, "public");
    const isVisible = sql`exists (
      select 1
      from ${repositories}
      where ${repositories.id} = ${toggles.repoId} and ${isRepositoryVisible(principal)}
    )`;
    const seesPublic = seesEverythingPublic(principal);
    const isShown = seesPublic ? sql`(${isPublic} or ${isVisible})` : isVisible;
    const mayBeHidden = seesPublic ? sql`${toggles.visibility} <> 'public'` : undefined;

    const isOfUser = eq(toggles.userId, id);
    // A derived table, so that the page limits the rows read, rather than an index that serves the
    // order.
    const page = db
      .select({ id: toggles.repoId, toggledAt: sql<number>`${toggles.createdAt}`.as("marked_at") })
      .from(toggles)
      .where(and(isOfUser, isShown))
      .orderBy(desc(toggles.createdAt), desc(toggles.repoId))
      .limit(size)
      .offset(offset)
      .as("page");
    return {
      rows: selectRepositories(db, toCallerSql(principal))
        .innerJoin(page, eq(page.id, repositories.id))
        .orderBy(desc(page.toggledAt), desc(page.id)),
      stored: db
        .select({ n: sql<number>`${stored}`.as("n") })
        .from(users)
        .where(eq(users.id, id)),
      hidden: db
        .select({ n: count().as("n") })
        .from(toggles)
        .where(and(isOfUser, mayBeHidden, sql`not ${isVisible}`)),
    };
  },
);

/** Lists the users who starred or watch a repository and whom the caller may see, by id. */
async function listTogglers(
  ctx: Ctx,
  { id }: Repository,
  toggle: Toggle,
  slice: Slice,
): Promise<Listed<User>> {
  const statements = togglersOf(ctx.db, { ...toRepositoryPage(ctx, slice), id }, { toggle });
  return toListedPage(await batch(ctx.db, statements), ({ user }) => user);
}

const togglersOf = prepareAll(
  (db, { principal, size, offset, id }: OfRow, { toggle }: { toggle: Toggle }) => {
    const { toggles } = TOGGLES[toggle];
    const isListed = and(eq(toggles.repoId, id), isAccountVisible(principal));
    return {
      rows: db
        .select({ user: columnsOf(users, "u") })
        .from(toggles)
        .innerJoin(users, eq(users.id, toggles.userId))
        .where(isListed)
        .orderBy(asc(toggles.userId))
        .limit(size)
        .offset(offset),
      counted: db
        .select({ total: count().as("total") })
        .from(toggles)
        .innerJoin(users, eq(users.id, toggles.userId))
        .where(isListed),
    };
  },
);
