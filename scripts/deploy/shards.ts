import { Refusal } from "../refusal.ts";
import { shardBinding } from "../tools/shard-binding.ts";
import { readListing } from "./database-ids.ts";

/** Shards that one deployment may have. The bindings of a Worker are bounded, too: it takes some 5,000. */
export const SHARDS_MAX = 1000;

/** What the names of shards' databases begin with. It is how a later deployment finds them. */
export const shardPrefix = (database: string): string => `${database}-shard-`;

export const shardName = (database: string, shard: number): string =>
  `${shardPrefix(database)}${shard}`;

/**
 * The number of shards that an account has.
 *
 * @param listing The output of `wrangler d1 list --json`.
 * @param database The name of the first database.
 * @throws Refusal if one of them is missing: a new one in its place would be without the data of its repositories.
 */
export function countShards(listing: string, database: string): number {
  const prefix = shardPrefix(database);
  const numbers = readListing(listing)
    .filter(({ name }) => name.startsWith(prefix) && /^[1-9]\d*$/.test(name.slice(prefix.length)))
    .map(({ name }) => Number(name.slice(prefix.length)));
  const last = Math.max(0, ...numbers);
  for (let shard = 1; shard < last; shard++) {
    if (numbers.includes(shard)) continue;
    throw new Refusal(
      `the account has the database "${shardName(database, last)}" and not "${shardName(database, shard)}": restore it first`,
    );
  }
  return last;
}

/**
 * The numbers of the shards that are to be created.
 *
 * @param wanted How many there are to be; undefined for those that exist.
 * @throws Refusal for fewer than exist.
 */
export function newShards(existing: number, wanted = existing): number[] {
  if (wanted < existing) {
    throw new Refusal(
      `--shards is ${wanted}, but the account has ${existing} shards, and their number may only grow`,
    );
  }
  return Array.from({ length: wanted - existing }, (_, index) => existing + index + 1);
}

/**
 * Adds the databases of shards to wrangler.toml, with the settings of the first database.
 *
 * @throws Refusal if it has no first database.
 */
export function withShards(toml: string, count: number): string {
  if (count === 0) return toml;
  const first = toml
    .split(/^(?=\[)/m)
    .find(
      (section) => section.startsWith("[[d1_databases]]") && /^binding\s*=\s*"DB"/m.test(section),
    );
  const name = /^database_name\s*=\s*"([^"]*)"/m.exec(first ?? "")?.[1];
  if (first === undefined || name === undefined) {
    throw new Refusal('wrangler.toml has no database with the binding "DB"');
  }
  const settings = first.split("\n").filter((line) => /^\w+\s*=/.test(line));
  const sections = Array.from({ length: count }, (_, index) =>
    [
      "[[d1_databases]]",
      ...settings.map((line) =>
        line
          .replace(/^binding\s*=.*/, `binding = "${shardBinding(index + 1)}"`)
          .replace(/^database_name\s*=.*/, `database_name = "${shardName(name, index + 1)}"`),
      ),
    ].join("\n"),
  );
  return [toml.trimEnd(), ...sections].join("\n\n").concat("\n");
}
