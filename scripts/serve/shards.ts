import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { reasonOf, Refusal } from "../refusal.ts";
import { shardBinding } from "../tools/shard-binding.ts";
import type { Setup } from "./setup.ts";

/** The file of a data directory that has the number of its shards, for starts that do not name it. */
const FILE = "shards";

export const shardBindings = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => shardBinding(index + 1));

/**
 * How many shards a service has: as many as its operator sets, otherwise as many as the last start had. A greater number is
 * stored.
 *
 * @param wanted The operator's number; undefined for none.
 * @param data Directory of the state, which must exist.
 * @throws Refusal for fewer than there are: repositories have their data in each.
 */
export function countShards(wanted: number | undefined, data: string): number {
  const path = join(data, FILE);
  const stored = existsSync(path) ? readFileSync(path, "utf8").trim() : "0";
  if (!/^\d+$/.test(stored)) throw new Refusal(`${path} has no number of shards: "${stored}"`);
  const existing = Number(stored);
  if (wanted === undefined || wanted === existing) return existing;
  if (wanted < existing) {
    throw new Refusal(
      `EDGEFORGE_SHARDS is ${wanted}, but ${data} has ${existing} shards, and their number may only grow`,
    );
  }
  writeFileSync(path, `${wanted}\n`, { mode: 0o600 });
  return wanted;
}

/**
 * Sets up all shards, and waits until they have the copies of everything in the first database.
 *
 * @throws Refusal if a shard has no database, or that of another shard.
 */
export async function openShards(setup: Setup): Promise<void> {
  try {
    while (!(await setup.copyToShards()).isCurrent);
  } catch (error) {
    throw new Refusal(`the shards cannot be opened: ${reasonOf(error)}`);
  }
}
