import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Vars } from "./vars.ts";

/** Beside the state: what it opens is of no use without it, so that they are saved together. */
const FILE = "sealing-keys";

/**
 * The Worker's settings with a key that seals secrets: where the operator gives none, the one that an
 * earlier start has made, or a new one.
 *
 * @param data Directory of the state, which is there. A new key is stored in it, for its owner alone.
 */
export function withSealingKeys(vars: Vars, data: string): Vars {
  if (vars["SEALING_KEYS"]) return vars;
  const path = join(data, FILE);
  if (!existsSync(path)) {
    const keys = `local:${randomBytes(32).toString("base64")}\n`;
    writeFileSync(path, keys, { mode: 0o600, flag: "wx" });
  }
  return { ...vars, SEALING_KEYS: readFileSync(path, "utf8").trim() };
}
