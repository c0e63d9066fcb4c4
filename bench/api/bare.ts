import { rm } from "node:fs/promises";
import { join } from "node:path";

import { Miniflare } from "miniflare";

import { builtModules } from "../../scripts/build/modules.ts";
import { Refusal } from "../../scripts/refusal.ts";
import { miniflareOptions } from "../../scripts/build/miniflare.ts";
import { withoutSignalHandlers } from "../../scripts/serve/signals.ts";
import { run } from "../../scripts/tools/run.ts";
import type { Server } from "../support/service.ts";

const NAME = "bare";
const HOST = "127.0.0.1";

/**
 * Starts the bare Hono route (bare/worker.ts) like the service: bundled and minified, in
 * a workerd of its own, on a direct socket.
 *
 * @param directory Directory for its bundle and its state.
 */
export async function openBare(directory: string): Promise<Server> {
  const modulesRoot = join(directory, "worker");
  const args = ["--config", "bench/api/bare/wrangler.toml", "--outdir", modulesRoot];
  const built = await run("wrangler", ["deploy", "--dry-run", "--minify", ...args]);
  if (built.code !== 0) throw new Refusal(`the bare route does not build:\n${built.output.trim()}`);
  await rm(join(modulesRoot, "README.md"), { force: true });

  const worker = {
    ...(await builtModules(modulesRoot)),
    name: NAME,
    compatibilityDate: "2026-10-20",
    compatibilityFlags: ["nodejs_compat"],
    unsafeDirectSockets: [{ host: HOST, port: 0 }],
  };
  const mf = withoutSignalHandlers(
    () => new Miniflare(miniflareOptions(join(directory, "state"), [worker], () => {})),
  );
  return { origin: await mf.unsafeGetDirectURL(NAME), close: () => mf.dispose() };
}
