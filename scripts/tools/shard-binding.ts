/** The name under which a Worker has the database of a shard: see src/storage/shard-databases.ts. */
export const shardBinding = (shard: number): string => `SHARD_${shard}`;
