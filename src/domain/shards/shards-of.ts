import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { accountShards, repositories } from "../../db/schema/index.ts";

// Which shards a list over all repositories asks. The first database tells.

/** The numbers of the shards that a list asks; undefined for all. */
export type AskedShards = ReadonlySet<number> | undefined;

/**
 * Finds the shards that may have something of an account. An organization has the events of its repositories, and reviews that are asked of
 * its teams.
 *
 * Cost: nothing without shards; otherwise one round trip of the first database.
 */
export const findShardsOf = (ctx: Ctx, accountId: number): Promise<AskedShards> =>
  findShards(ctx, (db) => ofAccount(db, { accountId }));

const ofAccount = prepare((db, { accountId }: Params<{ accountId: number }>) =>
  selectShards(db, shardsOfAccounts(accountId)),
);

/** Finds the shards that may have something of an account, or have one of some repositories. Cost: as `findShardsOf`. */
export const findShardsOfFeed = (
  ctx: Ctx,
  accountId: number,
  repoIds: readonly number[],
): Promise<AskedShards> => findShards(ctx, (db) => ofFeed(db, { accountId, repoIds }));

const ofFeed = prepare(
  (db, { accountId, repoIds }: Params<{ accountId: number; repoIds: readonly number[] }>) => {
    const ofRepositories = shardsOfRepositories(sql`select value from ${repoIds}`);
    return selectShards(db, sql`${shardsOfAccounts(accountId)} union ${ofRepositories}`);
  },
);

/**
 * Finds shards by a prepared query of `selectShards`. Cost: as `findShardsOf`.
 *
 * @param select Given the first database.
 */
export async function findShards(
  { directory, openShards }: Ctx,
  select: (db: Database) => PromiseLike<readonly { readonly id: number }[]>,
): Promise<AskedShards> {
  if (openShards().size === 0) return undefined;
  const rows = await select(directory);
  return new Set(rows.map(({ id }) => id));
}

/** @param shardIds Selects the numbers of shards, as `id`. */
export const selectShards = (db: Database, shardIds: SQL) =>
  db.select({ id: sql<number>`id` }).from(sql`(${shardIds}) asked`);

/** Selects the numbers of the shards that may have something of accounts, as `id`. */
export const shardsOfAccounts = (accountIds: SQL): SQL => sql`
  select ${accountShards.shardId} as id from ${accountShards}
  where ${accountShards.accountId} in (${accountIds})`;

/** Selects the numbers of the shards of repositories, as `id`. */
export const shardsOfRepositories = (repoIds: SQL): SQL => sql`
  select ${repositories.shard} as id from ${repositories}
  where ${repositories.id} in (${repoIds}) and ${repositories.shard} <> 0`;

/** Tells the first database that a shard is about to have something of an account. */
export const insertAccountShard = (accountId: number, shardId: number): SQL => sql`
  insert into ${accountShards} (account_id, shard_id) values (${accountId}, ${shardId})
  on conflict do nothing`;
