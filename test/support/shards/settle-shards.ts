/** Notes that work outside a request has written in a shard, so that the next read finds it. */
export const noteShardWork = (): void => globalThis.testShards?.noteWrite();

/** Lets a request find what the service does in shards, and brings back from them, after earlier ones. */
export async function settleShards({ method }: Pick<Request, "method">): Promise<void> {
  const shards = globalThis.testShards;
  if (!shards) return;
  await shards.settle();
  if (method !== "GET" && method !== "HEAD") shards.noteWrite();
}
