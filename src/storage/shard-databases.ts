import { type Database, openDatabase } from "../db/db.ts";

const BINDING = /^SHARD_([1-9]\d{0,3})$/;

/**
 * Opens the database of a shard.
 *
 * @param env The bindings of the Worker.
 * @param directory The first database, which is number 0.
 * @throws Error if it has no binding.
 */
export function openShardDatabase(env: object, directory: Database, number: number): Database {
  if (number === 0) return directory;
  const database = openShardDatabases(env).get(number);
  if (!database) throw new Error(`shard ${number} has no binding SHARD_${number}`);
  return database;
}

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
