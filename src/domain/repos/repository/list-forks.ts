import { asc, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { repositories } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import {
  type RepositoryPage,
  selectListed,
  toRepositoryList,
  toRepositoryPage,
} from "./list-repositories.ts";

/** Lists the forks of a repository that the caller may see, oldest first. */
export async function listForks(
  ctx: Ctx,
  parent: RepositoryContext,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  const page = { ...toRepositoryPage(ctx, slice), parentId: parent.row.id };
  const { items, total } = toRepositoryList(ctx, await batch(ctx.db, listOfParent(ctx.db, page)));
  for (const fork of items) fork.parent = parent;
  return { items, total };
}

const listOfParent = prepareAll(
  (db, { parentId, ...page }: Params<RepositoryPage & { parentId: number }>) =>
    selectListed(db, page, eq(repositories.parentId, parentId), [asc(repositories.id)]),
);
