import { eq } from "drizzle-orm";

import { SHARD_OWNED } from "../../db/copies/copied-tables.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { type Repository, repositories } from "../../db/schema/index.ts";

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
