import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Vars } from "./vars.ts";

/** Secrets of the Worker that a service makes for itself where its operator sets none. */
const SECRETS = [
  {
    name: "SEALING_KEYS",
    /**
     * Stored with the state, so that a backup contains both: sealed secrets are useless without
     * their key.
     */
    file: "sealing-keys",
    make: () => `local:${randomBytes(32).toString("base64")}\n`,
  },
  {
    name: "OAUTH_SIGNING_KEYS",
    file: "oauth-signing-keys",
    make: () =>
      generateKeyPairSync("rsa", { modulusLength: 2048 })
        .privateKey.export({ type: "pkcs8", format: "pem" })
        .toString(),
  },
] as const;

export const STORED_SECRETS: readonly string[] = SECRETS.map(({ name }) => name);

/** New secrets by name. */
export const makeSecrets = (): Record<string, string> =>
  Object.fromEntries(SECRETS.map(({ name, make }) => [name, make().trim()]));

/**
 * The Worker's settings with the secrets that it needs: each is the operator's, otherwise the one
 * that an earlier start made, or a new one.
 *
 * @param data Directory of the state, which must exist. A new secret is stored in it, readable by
 *   its owner only.
 */
export function withStoredSecrets(vars: Vars, data: string): Vars {
  const missing = SECRETS.filter(({ name }) => !vars[name]);
  const stored = missing.map(({ name, file, make }) => {
    const path = join(data, file);
    if (!existsSync(path)) writeFileSync(path, make(), { mode: 0o600, flag: "wx" });
    return [name, readFileSync(path, "utf8").trim()];
  });
  return { ...vars, ...Object.fromEntries(stored) };
}
