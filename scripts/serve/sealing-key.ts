import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Vars } from "./vars.ts";

/** Stored with the state, so that a backup contains both: sealed secrets are useless without their key. */
const FILE = "sealing-keys";

/**
 * The Worker's settings with a key that seals secrets: the operator's, otherwise the key that an
 * earlier start generated, or a new one.
 *
 * @param data Directory of the state, which must exist. A new key is stored in it, readable by its owner only.
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
