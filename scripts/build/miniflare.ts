import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

import {
  convertV4MiniflareOptions,
  type MiniflareOptions,
  type V4MiniflareOptions,
} from "miniflare";

/** A log line of a Worker. */
export type LogLine = { level: string; message: string };

/** Miniflare's options for every use of it in this project. */
export function miniflareOptions(
  data: string,
  workers: object[],
  onLog: (line: LogLine) => void,
): MiniflareOptions {
  const options: Record<string, unknown> = {
    workers,
    resourcePersistencePath: data,
    // Miniflare's own socket, which is unused: on a free port.
    host: "127.0.0.1",
    port: 0,
    cf: false,
    telemetry: { enabled: false },
    logRequests: false,
    handleStructuredLogs: onLog,
  };
  // Miniflare checks the shape when it starts; its types only cover the options of a single Worker.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return convertV4MiniflareOptions(options as V4MiniflareOptions);
}

/**
 * Reports each workerd that is started from now on, which Miniflare does not expose.
 *
 * @returns A function that stops the reports.
 */
export function watchWorkerd(onSpawn: (pid: number) => void): () => void {
  const onChild = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess };
    child.once("spawn", () => {
      if (child.spawnfile.includes("workerd") && child.pid !== undefined) onSpawn(child.pid);
    });
  };
  subscribe("child_process", onChild);
  return () => void unsubscribe("child_process", onChild);
}
