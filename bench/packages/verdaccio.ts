import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { startPeer } from "./peer.ts";
import type { Registry } from "./registry.ts";

const VERSION = "6.10.4";

const MANIFEST = {
  private: true,
  dependencies: { verdaccio: VERSION },
  // It asks for the tag `cjs` of this package, which mirrors of npm's registry may not have.
  overrides: { "node-fetch": "2.6.7" },
};

/** No other registry is asked, and everybody may publish. */
const CONFIGURATION = `storage: ./storage
uplinks: {}
max_body_size: 100mb
packages:
  "**":
    access: $all
    publish: $all
    unpublish: $all
log: { type: stdout, format: json, level: error }
`;

/**
 * Installs Verdaccio in a directory and starts it.
 *
 * @returns Undefined if it can't be installed.
 */
export async function openVerdaccio(directory: string): Promise<Registry | undefined> {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify(MANIFEST));
  const install = ["install", "--silent", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", install, { cwd: directory, stdio: "inherit" });
  if (status !== 0) return undefined;

  const configuration = join(directory, "config.yaml");
  writeFileSync(configuration, CONFIGURATION);
  const program = join(directory, "node_modules/verdaccio/bin/verdaccio");
  return startPeer({
    name: `Verdaccio ${VERSION}`,
    path: "/",
    program: process.execPath,
    args: (port) => [program, "--config", configuration, "--listen", `127.0.0.1:${port}`],
    readyPath: "/-/ping",
  });
}
