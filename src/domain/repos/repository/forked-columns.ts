import { type SQL, sql } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import type { Params } from "../../../db/prepared.ts";
import { repositories, type User, users } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isForkPrivate } from "../../people/visibility/fork-visibility.ts";

/** The parent of a fork as an argument of a prepared query. */
export interface ForkParent {
  readonly id: number;
  readonly ownerId: number;
  readonly creatorId: number;
}

/** The argument for a parent, of which `creator` makes a fork. */
export const forkParent = ({ row }: RepositoryContext, creator: User): ForkParent => ({
  id: row.id,
  ownerId: row.ownerId,
  creatorId: creator.id,
});

/**
 * Columns of a fork that are read of its parent at the time of the write. Without the parent, or if
 * its owner blocks the creator, they are null, which a repository's can't be.
 *
 * SECURITY: the parent may just have become private, the fork's owner public, or the parent's owner
 * may have blocked the creator.
 *
 * @param forkOwnerId The account that gets the fork.
 */
export function forkedColumns(parent: Params<ForkParent>, forkOwnerId: SQL) {
  const { id, ownerId, creatorId } = parent;
  const ownerVisibility = sql`(select visibility from ${users} where id = ${forkOwnerId})`;
  return {
    parentId: id,
    isPrivate: sql<boolean>`(
      select ${isForkPrivate(sql`visibility`, ownerVisibility)}
      from ${repositories}
      where id = ${id} and not ${isBlockedBy(creatorId, ownerId)}
    )`,
    lfsSizeBytes: sql<number>`(select lfs_size_bytes from ${repositories} where id = ${id})`,
  };
}
