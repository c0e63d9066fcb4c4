import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { accountShards, repositories } from "../../db/schema/index.ts";

// Which shards a list over all repositories asks. The first database tells.

/** The numbers of the shards that a list asks; undefined for all. */
export type AskedShards = ReadonlySet<number> | undefined;

/**
 * Finds the shards that may have something of accounts.
 *
 * Cost: nothing without shards; otherwise one round trip of the first database.
 *
 * @param accountIds A value or a query of one column. An organization has the events of its repositories, and reviews that are asked of
 * its teams.
 */
export async function findShardsOf(ctx: Ctx, accountIds: number | SQL): Promise<AskedShards> {
  return findShards(ctx, shardsOfAccounts(accountIds));
}

/** Finds the shards that may have something of an account, or have one of some repositories. Cost: as `findShardsOf`. */
export async function findShardsOfFeed(
  ctx: Ctx,
  accountId: number,
  repoIds: readonly number[],
): Promise<AskedShards> {
  const ids = sql`select value from json_each(${JSON.stringify(repoIds)})`;
  return findShards(ctx, sql`${shardsOfAccounts(accountId)} union ${shardsOfRepositories(ids)}`);
}

/** @param selected Selects the numbers of shards, as `id`. */
async function findShards({ directory, openShards }: Ctx, selected: SQL): Promise<AskedShards> {
  if (openShards().size === 0) return undefined;
  const rows = await directory.all<{ id: number }>(selected);
  return new Set(rows.map(({ id }) => id));
}

/** Selects the numbers of the shards that may have something of accounts, as `id`. */
export const shardsOfAccounts = (accountIds: number | SQL): SQL => sql`
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
