import { env } from "cloudflare:workers";

/** The bindings of the Worker's shards. */
export const shardBindings = (): Record<string, D1Database> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => /^SHARD_[1-9]/.test(name)));
