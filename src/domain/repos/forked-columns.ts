import { sql } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import type { Params } from "../../db/prepared.ts";
import { repositories, type User, type Visibility } from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/** From the most visible to the least. */
const VISIBILITIES: readonly Visibility[] = ["public", "limited", "private"];

/** The parent of a fork as an argument of a prepared query. */
export interface ForkParent {
  readonly id: number;
  readonly ownerId: number;
  readonly creatorId: number;
  /** How little the owner of the fork is visible: 0 for a public one. */
  readonly ownerRank: number;
}

/** The argument for a parent, whose fork `owner` gets from `creator`. */
export const forkParent = (
  { row }: RepositoryContext,
  { owner, creator }: { owner: User; creator: User },
): ForkParent => ({
  id: row.id,
  ownerId: row.ownerId,
  creatorId: creator.id,
  ownerRank: VISIBILITIES.indexOf(owner.visibility),
});

/**
 * Columns of a fork that are read of its parent at the time of the write. Without the parent, or if
 * its owner blocks the creator, they are null, which a repository's can't be.
 *
 * SECURITY: the parent may just have become private, or its owner blocked the creator.
 */
export function forkedColumns({ id, ownerId, creatorId, ownerRank }: Params<ForkParent>) {
  const isLessVisible = sql`case visibility
    when 'public' then 0
    when 'limited' then 1
    else 2
  end > ${ownerRank}`;
  return {
    parentId: id,
    isPrivate: sql<boolean>`(
      select is_private or ${isLessVisible}
      from ${repositories}
      where id = ${id} and not ${isBlockedBy(creatorId, ownerId)}
    )`,
    lfsSizeBytes: sql<number>`(select lfs_size_bytes from ${repositories} where id = ${id})`,
  };
}
