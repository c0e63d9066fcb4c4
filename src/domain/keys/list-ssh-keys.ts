import { and, asc, count, eq, isNull, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { publicKeys, type PublicKey, type Repository, type User } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Restricts a list of keys. */
export interface KeyFilter {
  /** All keys if it is empty. */
  fingerprint: string;
  id?: number | undefined;
}

/** Lists a user's SSH keys, oldest first. */
export const listUserKeys = (ctx: Ctx, user: User, filter: KeyFilter, slice: Slice) =>
  listKeys(ctx, and(eq(publicKeys.userId, user.id), isNull(publicKeys.repoId)), filter, slice);

/** Lists a repository's deploy keys, oldest first. */
export const listDeployKeys = (ctx: Ctx, repo: Repository, filter: KeyFilter, slice: Slice) =>
  listKeys(ctx, eq(publicKeys.repoId, repo.id), filter, slice);

async function listKeys(
  ctx: Ctx,
  isOfOwner: SQL | undefined,
  { fingerprint, id }: KeyFilter,
  { size, offset }: Slice,
): Promise<Listed<PublicKey>> {
  const isListed = and(
    isOfOwner,
    fingerprint === "" ? undefined : eq(publicKeys.fingerprint, fingerprint),
    id === undefined ? undefined : eq(publicKeys.id, id),
  );
  const [items, [counted]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(publicKeys)
      .where(isListed)
      .orderBy(asc(publicKeys.id))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: count().as("total") })
      .from(publicKeys)
      .where(isListed),
  ]);
  return { items, total: counted?.total ?? 0 };
}
