import { and, asc, count, eq, isNull, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { publicKeys, type PublicKey, type Repository, type User } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists a user's SSH keys, oldest first; filtered by fingerprint unless it is empty. */
export const listUserKeys = (ctx: Ctx, user: User, fingerprint: string, slice: Slice) =>
  listKeys(ctx, and(eq(publicKeys.userId, user.id), isNull(publicKeys.repoId)), fingerprint, slice);

/** Lists a repository's deploy keys, oldest first; filtered by fingerprint unless it is empty. */
export const listDeployKeys = (ctx: Ctx, repo: Repository, fingerprint: string, slice: Slice) =>
  listKeys(ctx, eq(publicKeys.repoId, repo.id), fingerprint, slice);

async function listKeys(
  ctx: Ctx,
  isOfOwner: SQL | undefined,
  fingerprint: string,
  { size, offset }: Slice,
): Promise<Listed<PublicKey>> {
  const isListed = and(
    isOfOwner,
    fingerprint === "" ? undefined : eq(publicKeys.fingerprint, fingerprint),
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
