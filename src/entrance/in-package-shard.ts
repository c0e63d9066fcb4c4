import { inArray } from "drizzle-orm";

import { callerArgument, type CallerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { type Params, prepare } from "../db/prepared.ts";
import { users } from "../db/schema/index.ts";
import type { PackageOwner } from "../domain/packages/find-package.ts";
import { copyToShard } from "../domain/shards/copy-to-shards.ts";
import { inDatabase } from "../domain/shards/in-database.ts";
import type { TargetQuery } from "./authenticate.ts";

/** A query about an owner's packages, and what the first database answered to it in the batch that found the owner. */
interface PackageQuery<R extends TargetQuery> {
  readonly loaded: R["_"]["result"] | undefined;
  readonly select: ((db: Database, caller: CallerArgument) => R) | undefined;
}

/**
 * Goes on in the database with an owner's packages, which is the first one for most deployments.
 *
 * Cost: nothing there; one round trip of a shard.
 *
 * @param shard Its number.
 * @param query A query that is sent again there.
 */
export async function inPackageShard<R extends TargetQuery>(
  ctx: Ctx,
  { account }: PackageOwner,
  shard: number,
  { loaded, select }: PackageQuery<R>,
): Promise<{ ctx: Ctx; more: R["_"]["result"] | undefined }> {
  const there = inDatabase(ctx, shard);
  if (shard === 0) return { ctx: there, more: loaded };

  const { db } = there;
  const { user } = ctx.actor;
  const ids = [account.id, ...(user ? [user.id] : [])];
  const read = async () => {
    const [copies, ...more] = await db.batch([
      accountsOfIds(db, { ids }),
      ...(select ? [select(db, callerArgument(ctx.actor))] : []),
    ]);
    const names = new Map(copies.map(({ id, lowerName }) => [id, lowerName]));
    const isCurrent =
      names.get(account.id) === account.lowerName && ids.every((id) => names.has(id));
    return { isCurrent, more: more[0] };
  };
  let { isCurrent, more } = await read();
  if (!isCurrent) {
    // The request that created or renamed one of them ended before it was copied.
    await copyToShard(ctx.directory, { id: shard, db }, ctx.now);
    ({ isCurrent, more } = await read());
  }
  return { ctx: there, more };
}

const accountsOfIds = prepare((db, p: Params<{ ids: readonly number[] }>) =>
  db
    .select({ id: users.id, lowerName: users.lowerName })
    .from(users)
    .where(inArray(users.id, p.ids)),
);
