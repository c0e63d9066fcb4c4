import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

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

  writeFileSync(join(directory, "config.yaml"), CONFIGURATION);
  const port = await findPort();
  const origin = new URL(`http://127.0.0.1:${port}`);
  const program = join(directory, "node_modules/verdaccio/bin/verdaccio");
  const child = spawn(
    process.execPath,
    [program, "--config", join(directory, "config.yaml"), "--listen", origin.host],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  await waitUntilReady(origin);
  return {
    name: `Verdaccio ${VERSION}`,
    origin,
    path: "/",
    pid: () => child.pid ?? 0,
    close: async () => {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

/** A port that was free a moment ago. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("there is no free port");
  return address.port;
}

async function waitUntilReady(origin: URL): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    const answer = await fetch(new URL("/-/ping", origin)).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("Verdaccio did not start");
}
