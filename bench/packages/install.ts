import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { addressOf, type Registry } from "./registry.ts";

/**
 * Installs a package in an empty folder, without a cache, by npm. @returns The duration in seconds.
 */
export async function install(
  directory: string,
  registry: Registry,
  dependency: string,
): Promise<number> {
  const home = mkdtempSync(join(directory, "install-"));
  writeFileSync(
    join(home, "package.json"),
    JSON.stringify({ private: true, dependencies: { [dependency]: "1.0.0" } }),
  );
  writeFileSync(
    join(home, ".npmrc"),
    `registry=${addressOf(registry)}\naudit=false\nfund=false\nupdate-notifier=false\n`,
  );
  const from = performance.now();
  const child = spawn("npm", ["install", "--silent"], {
    cwd: home,
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stdio: "inherit",
  });
  const [code] = (await once(child, "exit")) as [number | null];
  const seconds = (performance.now() - from) / 1000;
  rmSync(home, { recursive: true, force: true });
  if (code !== 0) throw new Error(`npm install from ${registry.name} ended with ${code}`);
  return seconds;
}
