import { asc, eq, sql } from "drizzle-orm";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { repositories } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import { selectRepositories, toRepositoryContext } from "./find-repository.ts";
import {
  type RepositoryPage,
  selectListed,
  toRepositoryList,
  toRepositoryPage,
} from "./list-repositories.ts";

/** Forks of forks that are listed with a page of forks, and how many levels of them. */
const BELOW_MAX = 200;
const DEPTH_MAX = 20;

/** A fork with those that were made of it. */
export interface ForkTree {
  readonly repo: RepositoryContext;
  /** Oldest first. */
  readonly forks: readonly ForkTree[];
}

/** A page of forks, each with those below it. */
export interface ForkTrees extends Listed<ForkTree> {
  /** Whether more forks of these forks exist than are listed. */
  readonly isCut: boolean;
}

/**
 * Lists the forks of a repository that the caller may see, oldest first, each with its own forks. A
 * fork of one that the caller may not see is not listed.
 *
 * Cost: one round trip; below the listed forks, 200 more at most.
 */
export async function listForkTrees(
  ctx: Ctx,
  parent: RepositoryContext,
  slice: Slice,
): Promise<ForkTrees> {
  const page = { ...toRepositoryPage(ctx, slice), parentId: parent.row.id };
  const { below, ...listed } = await batch(ctx.db, treesOfParent(ctx.db, page));
  const { items, total } = toRepositoryList(ctx, listed);
  const byParent = Map.groupBy(
    below.map((row) => toRepositoryContext(ctx.actor, row)),
    ({ row }) => row.parentId,
  );
  const toTree = (repo: RepositoryContext): ForkTree => ({
    repo,
    forks: (byParent.get(repo.row.id) ?? []).map(toTree),
  });
  return { items: items.map(toTree), total, isCut: below.length === BELOW_MAX };
}

const treesOfParent = prepareAll(
  (db, { parentId, ...page }: Params<RepositoryPage & { parentId: number }>) => {
    const isVisible = isRepositoryVisible(page.principal);
    const isChild = eq(repositories.parentId, parentId);
    const order = [asc(repositories.id)];
    const first = db
      .select({ id: repositories.id })
      .from(repositories)
      .where(allOf(isChild, isVisible))
      .orderBy(...order)
      .limit(page.size)
      .offset(page.offset);
    // SECURITY: each level is joined with what the caller may see, so that a hidden fork also hides
    // those below it.
    const below = sql`
      with recursive
        listed(id, depth) as (
          select id, 0 from (${first})
          union all
          select ${repositories.id}, listed.depth + 1
          from listed join ${repositories} on ${repositories.parentId} = listed.id
          where listed.depth < ${sql.raw(String(DEPTH_MAX))} and ${isVisible}
        )
      select id from listed where depth > 0 limit ${sql.raw(String(BELOW_MAX))}`;
    return {
      ...selectListed(db, page, isChild, order),
      below: selectRepositories(db, toCallerSql(page.principal))
        .where(sql`${repositories.id} in (${below})`)
        .orderBy(...order),
    };
  },
);
