import { eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { SHARD_OWNED } from "../../db/copies/copied-tables.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { type Repository, repositories } from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/** The columns of a repository's row that its shard owns. */
export type OwnedColumns = Pick<Repository, (typeof SHARD_OWNED)[number]>;

const OWNED = Object.fromEntries(SHARD_OWNED.map((key) => [key, repositories[key]])) as {
  readonly [Key in keyof OwnedColumns]: (typeof repositories)[Key];
};

/** Selects those columns of a repository's row that its shard owns; no row before the shard has a copy. */
export const ownedColumns = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db.select(OWNED).from(repositories).where(eq(repositories.id, repoId)),
);

/** The row of the first database with the columns that its shard owns, as they are there. */
export const withOwned = (row: Repository, owned: OwnedColumns): Repository => ({
  ...row,
  ...owned,
  // It changes in both.
  updatedAt: Math.max(row.updatedAt, owned.updatedAt),
});

/** The repository with the columns that its shard owns, which a query of the first database has found. */
export async function refreshOwned(
  ctx: Pick<Ctx, "openShard">,
  repo: RepositoryContext,
): Promise<RepositoryContext> {
  const { id, shard } = repo.row;
  if (shard === 0) return repo;
  const [owned] = await ownedColumns(ctx.openShard(shard), { repoId: id });
  return owned ? { ...repo, row: withOwned(repo.row, owned) } : repo;
}
