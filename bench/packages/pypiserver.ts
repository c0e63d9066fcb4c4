import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { startPeer } from "./peer.ts";
import type { Registry } from "./registry.ts";

const VERSION = "2.4.2";

/**
 * Installs pypiserver in a directory and starts it. Everybody may publish.
 *
 * @returns Undefined if it can't be installed.
 */
export async function openPypiserver(directory: string): Promise<Registry | undefined> {
  const packages = join(directory, "packages");
  mkdirSync(packages, { recursive: true });
  const environment = join(directory, "environment");
  const pip = join(environment, "bin/pip");
  // With `auto` it runs on waitress, which takes several requests at once, if that is there.
  const install = ["install", "--quiet", `pypiserver==${VERSION}`, "waitress"];
  const isInstalled =
    spawnSync("python3", ["-m", "venv", environment], { stdio: "inherit" }).status === 0 &&
    spawnSync(pip, install, { stdio: "inherit" }).status === 0;
  if (!isInstalled) return undefined;
  return startPeer({
    name: `pypiserver ${VERSION}`,
    path: "/",
    program: join(environment, "bin/pypi-server"),
    args: (port) => [
      "run",
      "--interface",
      "127.0.0.1",
      "--port",
      String(port),
      "--server",
      "auto",
      "--authenticate",
      ".",
      "--passwords",
      ".",
      "--disable-fallback",
      packages,
    ],
    readyPath: "/simple/",
  });
}
