import { type SQL, sql } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import { onlyWhile } from "../../db/db.ts";
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
  /** Whether the first database knows the size of its large files at the time of the write. */
  readonly isSizeRead: boolean;
  /** Whether the parent may move to another database meanwhile. */
  readonly isMovable: boolean;
}

/** The argument for a parent, whose fork `owner` gets from `creator`. */
export const forkParent = (
  { row }: RepositoryContext,
  { owner, creator, isMovable }: { owner: User; creator: User; isMovable: boolean },
): ForkParent => ({
  id: row.id,
  ownerId: row.ownerId,
  creatorId: creator.id,
  ownerRank: VISIBILITIES.indexOf(owner.visibility),
  isSizeRead: row.shard === 0,
  isMovable,
});

/**
 * Columns of a fork that are read of its parent at the time of the write. Each is null, which a repository's can't be: `is_private`
 * if the parent is gone or its owner blocks the creator, `shard` if the parent has moved.
 *
 * SECURITY: the parent may just have become private, or its owner blocked the creator.
 */
export function forkedColumns(parent: Params<ForkParent>, shard: SQL) {
  const { id, ownerId, creatorId, ownerRank, isSizeRead, isMovable } = parent;
  const isLessVisible = sql`case visibility
    when 'public' then 0
    when 'limited' then 1
    else 2
  end > ${ownerRank}`;
  const isThere = sql`${shard} = (select p.shard from ${repositories} p where p.id = ${id})`;
  return {
    parentId: id,
    isPrivate: sql<boolean>`(
      select is_private or ${isLessVisible}
      from ${repositories}
      where id = ${id} and not ${isBlockedBy(creatorId, ownerId)}
    )`,
    ...(isSizeRead && {
      lfsSizeBytes: sql<number>`(select lfs_size_bytes from ${repositories} where id = ${id})`,
    }),
    // Pull requests read both.
    ...(isMovable && { shard: onlyWhile(isThere, sql<number>`${shard}`) }),
  };
}
