import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { inProject } from "../../scripts/project.ts";
import { startPeer } from "./peer.ts";
import type { Registry } from "./registry.ts";

const VERSION = "v3.0.0";
const MODULE = `github.com/distribution/distribution/v3/cmd/registry@${VERSION}`;

/**
 * Builds CNCF Distribution from its module, which takes minutes the first time, and starts it.
 * Everybody may push.
 *
 * @param directory For its contents.
 * @returns Undefined if it can't be built.
 */
export async function openDistribution(directory: string): Promise<Registry | undefined> {
  const programs = inProject("node_modules/.cache/bin");
  const program = join(programs, "registry");
  if (!existsSync(program)) {
    const env = { ...process.env, GOBIN: programs, GOFLAGS: "-trimpath" };
    const { status } = spawnSync("go", ["install", MODULE], { env, stdio: "inherit" });
    if (status !== 0) return undefined;
  }
  mkdirSync(directory, { recursive: true });
  const configuration = join(directory, "config.yaml");
  return startPeer({
    name: `Distribution ${VERSION.slice(1)}`,
    path: "/v2/bench/",
    program,
    args: (port) => {
      writeFileSync(configuration, configurationOf(directory, port));
      return ["serve", configuration];
    },
    env: { OTEL_TRACES_EXPORTER: "none" },
    readyPath: "/v2/",
  });
}

const configurationOf = (directory: string, port: number): string => `version: 0.1
log:
  level: error
  accesslog: { disabled: true }
storage:
  filesystem: { rootdirectory: ${JSON.stringify(join(directory, "data"))} }
http:
  addr: 127.0.0.1:${port}
`;
