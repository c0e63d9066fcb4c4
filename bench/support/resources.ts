import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runScript } from "../../scripts/refusal.ts";
import { onStopSignal } from "../../scripts/serve/signals.ts";

/** A resource that must be closed at the end of the benchmark. */
type Closable = { close: () => Promise<void> };

/**
 * The resources of a benchmark. Functions rather than methods, so that callers can pass them on.
 */
export type Resources = {
  /** A temporary directory that is removed at the end of the benchmark. */
  directory: string;
  /** Registers a resource to be closed at the end. */
  track: <Resource extends Closable>(resource: Resource | Promise<Resource>) => Promise<Resource>;
  release: (resource: Closable) => Promise<void>;
};

/**
 * Runs a benchmark, and then closes and removes its resources, also after Ctrl-C and after a
 * failure.
 */
export async function withResources(bench: (resources: Resources) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-bench-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));

  const open = new Set<Closable>();
  const resources: Resources = {
    directory,
    track: async (opening) => {
      const resource = await opening;
      open.add(resource);
      return resource;
    },
    release: async (resource) => {
      open.delete(resource);
      await resource.close();
    },
  };
  const closeAll = async (): Promise<void> => {
    for (const resource of open) await resources.release(resource);
  };

  let isStopping = false;
  onStopSignal(() => {
    isStopping = true;
    void closeAll().finally(() => process.exit(130));
  });
  await runScript(async () => {
    try {
      await bench(resources);
    } catch (error) {
      // Operations in progress fail when the servers stop.
      if (!isStopping) throw error;
    } finally {
      await closeAll();
    }
  });
}
