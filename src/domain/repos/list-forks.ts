import { asc, eq } from "drizzle-orm";

import { isRepositoryVisible } from "../../auth/access/visible-repositories.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { repositories } from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { listWhere } from "./list-repositories.ts";

/** Lists the forks of a repository that the caller may see, oldest first. */
export async function listForks(
  ctx: Ctx,
  parent: RepositoryContext,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  const isListed = allOf(eq(repositories.parentId, parent.row.id), isRepositoryVisible(ctx.actor));
  const { items, total } = await listWhere(ctx, isListed, [asc(repositories.id)], slice);
  for (const fork of items) fork.parent = parent;
  return { items, total };
}
