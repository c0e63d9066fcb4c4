import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Database, flagColumn, qualified } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import {
  packageBlobs,
  packageCleanupRules,
  packageRegistries,
  packages,
  packageShards,
  packageUploads,
  users,
} from "../../db/schema/index.ts";
import { chooseShard } from "../shards/choose-shard.ts";
import { deleteSomePackages, selectSeenVersion } from "./delete-some-packages.ts";

/** The number of the database that was chosen for the packages of each account of a query; null if none was. */
export const packageShardColumn = qualified<number | null>(sql`(
  select ${packageShards.shard} from ${packageShards} where ${packageShards.ownerId} = ${users.id}
)`);

/**
 * Chooses the database for the packages of an account that publishes for the first time, once: of two requests at a time, both get
 * what the first one stored. An account with packages from before there were shards keeps them in the first database.
 *
 * Cost: nothing without shards; else two round trips of the first database.
 *
 * @returns The number of the shard; 0 for the first database.
 */
export async function choosePackageShard(ctx: Ctx, ownerId: number): Promise<number> {
  if (ctx.openShards().size === 0) return 0;
  const [isFirst, drawn] = await Promise.all([isInFirst(ctx, ownerId), chooseShard(ctx)]);
  const { directory } = ctx;
  const [, chosen] = await directory.batch([
    insertSelect(
      directory,
      packageShards,
      { ownerId: users.id, shard: isFirst ? 0 : drawn },
      sql`from ${users} where ${users.id} = ${ownerId}`,
    ).onConflictDoNothing(),
    shardOfOwner(directory, { ownerId }),
  ]);
  return chosen[0]?.shard ?? 0;
}

/** The database with the packages of an account. Cost: nothing without shards; else one round trip of the first database. */
async function findPackageDatabase(ctx: Ctx, ownerId: number): Promise<Database> {
  if (ctx.openShards().size === 0) return ctx.openShard(0);
  const [chosen] = await shardOfOwner(ctx.directory, { ownerId });
  return ctx.openShard(chosen?.shard ?? 0);
}

const shardOfOwner = prepare((db, p: Params<{ ownerId: number }>) =>
  db
    .select({ shard: packageShards.shard })
    .from(packageShards)
    .where(eq(packageShards.ownerId, p.ownerId)),
);

/** Whether the first database has anything of an account's packages, without a choice. */
async function isInFirst(ctx: Ctx, ownerId: number): Promise<boolean> {
  const [found] = await packagesFromBefore(ctx.openShard(0), { ownerId });
  return found?.hasAny === true;
}

const packagesFromBefore = prepare((db, { ownerId }: Params<{ ownerId: number }>) => {
  const tables = [packages, packageBlobs, packageUploads, packageRegistries, packageCleanupRules];
  const parts = tables.map(
    (table) => sql`exists (select 1 from ${table} where owner_id = ${ownerId})`,
  );
  return db
    .select({ hasAny: flagColumn(sql`(${sql.join(parts, sql` or `)})`, "has_any") })
    .from(sql`(select 1)`);
});

/**
 * Whether an account has a package in a shard that somebody sees.
 *
 * Cost: nothing without shards; else one round trip of the first database, and one of the shard.
 */
export async function ownsPackagesInShard(ctx: Ctx, ownerId: number): Promise<boolean> {
  const db = await findPackageDatabase(ctx, ownerId);
  return db.shard !== 0 && (await selectSeenVersion(db, ownerId)).length > 0;
}

/**
 * Deletes some of an account's packages in a shard, as `deleteSomePackages` does, at the same cost as `ownsPackagesInShard`.
 *
 * @returns Whether there may be more.
 */
export async function deleteSomeInShard(
  ctx: Ctx,
  ownerId: number,
  rowsMax: number,
): Promise<boolean> {
  const db = await findPackageDatabase(ctx, ownerId);
  if (db.shard === 0) return false;
  const results = await db.batch(deleteSomePackages(db, ownerId, rowsMax));
  return results.some(({ meta }) => meta.changes >= rowsMax);
}
