import { parseArgs } from "node:util";

import { reasonOf, Refusal } from "../refusal.ts";
import { SHARDS_MAX } from "./shards.ts";

export type DeployOptions = {
  /** Whether commands are printed and not run. */
  isDryRun: boolean;
  /** How many databases there are to be besides the first; undefined for those that exist. */
  shards: number | undefined;
};

/**
 * Reads the arguments of `npm run deploy`.
 *
 * @throws Refusal for unknown arguments, and for a number that is none.
 */
export function parseOptions(args: string[]): DeployOptions {
  const { "dry-run": isDryRun = false, shards } = parse(args);
  if (shards === undefined) return { isDryRun, shards };
  if (!/^\d+$/.test(shards) || Number(shards) > SHARDS_MAX) {
    throw new Refusal(`--shards must be a whole number from 0 to ${SHARDS_MAX}, not "${shards}"`);
  }
  return { isDryRun, shards: Number(shards) };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: { "dry-run": { type: "boolean" }, shards: { type: "string" } },
    }).values;
  } catch (error) {
    throw new Refusal(reasonOf(error));
  }
}
