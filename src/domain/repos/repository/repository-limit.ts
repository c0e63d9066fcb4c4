import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { onlyWhile } from "../../../db/db.ts";
import { repositories, type User } from "../../../db/schema/index.ts";
import { forbidden, type Failure } from "../../../lib/failure.ts";

/**
 * The owner's id if the owner is below the limit of repositories at the time of the write, so that
 * concurrent requests can't exceed it.
 */
export const withinLimit = (ctx: Ctx, owner: User): SQL<number> =>
  onlyWhile(hasRoom(ctx, owner), owner.id);

/** The condition that an owner is below the limit of repositories. */
export function hasRoom(ctx: Ctx, owner: User): SQL {
  const limit = repositoryLimit(ctx, owner);
  return limit < 0 ? sql`1` : isBelowLimit(sql`${owner.id}`, sql`${limit}`);
}

/** The same of values that a prepared query binds. The limit is not negative. */
export const isBelowLimit = (ownerId: SQL, limit: SQL): SQL =>
  sql`(select count(*) from ${repositories} where owner_id = ${ownerId}) < ${limit}`;

/** The refusal of a write for an owner who has the maximum number of repositories. */
export const limitReached = (ctx: Ctx, owner: User): Failure =>
  forbidden(
    `user has reached maximum limit of repositories [limit: ${repositoryLimit(ctx, owner)}]`,
  );

/** The maximum number of repositories of an owner; negative for none. */
export const repositoryLimit = (ctx: Ctx, owner: User): number =>
  owner.repoCountMax >= 0 ? owner.repoCountMax : ctx.config.repoCountMax;
