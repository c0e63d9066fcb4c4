import { type Database, openDatabase } from "../db/db.ts";

const BINDING = /^SHARD_([1-9]\d{0,3})$/;

/**
 * Opens the databases of the bindings `SHARD_<number>`, each from its primary.
 *
 * @param env The bindings of the Worker.
 * @returns By number.
 */
export function openShardDatabases(env: object): ReadonlyMap<number, Database> {
  const databases = new Map<number, Database>();
  for (const [name, binding] of Object.entries(env) as [string, D1Database][]) {
    const number = BINDING.exec(name)?.[1];
    if (number === undefined) continue;
    databases.set(Number(number), openDatabase(binding.withSession("first-primary")));
  }
  return databases;
}

/** Whether there are shards, by the bindings, which are the same object for all requests. */
const known = new WeakMap<object, boolean>();

/** Whether a Worker has the binding of a shard. */
export function hasShards(env: object): boolean {
  let has = known.get(env);
  if (has === undefined) {
    has = Object.keys(env).some((name) => BINDING.test(name));
    known.set(env, has);
  }
  return has;
}
