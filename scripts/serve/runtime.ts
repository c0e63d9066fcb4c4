import {
  convertV4MiniflareOptions,
  Miniflare,
  type MiniflareOptions,
  type V4MiniflareOptions,
} from "miniflare";

import { builtModules } from "../build/modules.ts";
import type { Setup } from "./first-administrator.ts";
import type { Database } from "./migrate.ts";
import { keepSignals } from "./signals.ts";
import { drain, watchWorkerd } from "./workerd.ts";
import type { WorkerDescription } from "./worker.ts";

/** Functions rather than methods: they may be handed on. */
export type Runtime = {
  /** The database bound as DB. */
  database: () => Promise<Database>;
  /** The Worker's entrypoint for the first administrator, which no socket leads to. */
  setup: () => Promise<Setup>;
  /** Opens the public socket, and closes the way to `setup`. */
  listen: (host: string, port: number) => Promise<URL>;
  fire: (cron: string, at: Date) => Promise<unknown>;
  /** Answers the requests that have begun, within ten seconds, then stops. */
  close: () => Promise<void>;
};

/** The name of the Worker that holds the public socket. */
const SOCKET = "socket";

/** A line that a Worker wrote, and whether it is about something that went wrong. */
export type LogLine = { level: string; message: string };

/**
 * Starts workerd with the built Worker, and without a public socket: a request that came
 * before the migrations would meet an older schema.
 *
 * @param data    Directory for the state of all bindings.
 * @param onSpawn Told the process id of each workerd.
 * @param onLog   Given each line that the Worker writes.
 */
export async function openRuntime(
  { name, vars, options }: WorkerDescription,
  data: string,
  onSpawn: (pid: number) => void,
  onLog: (line: LogLine) => void = printLog,
): Promise<Runtime> {
  const workerd = watchWorkerd(onSpawn);
  const worker = { ...options, ...(await builtModules()), name, bindings: vars };
  const mf = keepSignals(
    () => new Miniflare(miniflareOptions(data, [worker, callerOf(name)], onLog)),
  );
  await mf.ready;

  return {
    database: () => mf.getD1Database("DB", name),
    setup: async () => (await mf.getBindings<{ SETUP: Setup }>("setup")).SETUP,
    listen: async (host, port) => {
      const workers = [worker, socketOf(name, host, port)];
      await mf.setOptions(miniflareOptions(data, workers, onLog));
      return mf.unsafeGetDirectURL(SOCKET);
    },
    fire: async (cron, at) => (await mf.getWorker(name)).scheduled({ cron, scheduledTime: at }),
    close: () => drain(workerd.latest(), () => mf.dispose()).finally(workerd.stop),
  };
}

/** A Worker whose only use is its binding: through it this process reaches the entrypoint of the other. */
function callerOf(name: string): object {
  return {
    name: "setup",
    modules: true,
    script: "export default {}",
    serviceBindings: { SETUP: { name, entrypoint: "Setup" } },
  };
}

/**
 * A Worker whose only use is its socket, which leads to the service's default entrypoint. On a socket of its own,
 * Miniflare puts two Workers before a Worker that has assets, though ours is asked first anyway; they take longer than a small request.
 */
function socketOf(service: string, host: string, port: number): object {
  return {
    name: SOCKET,
    modules: true,
    script: "export default {}",
    unsafeDirectSockets: [{ host, port, serviceName: service }],
  };
}

function printLog({ level, message }: LogLine): void {
  const stream = level === "error" || level === "warn" ? process.stderr : process.stdout;
  stream.write(`${message}\n`);
}

/** How every runtime of this project is started, for Miniflare. */
export function miniflareOptions(
  data: string,
  workers: object[],
  onLog: (line: LogLine) => void,
): MiniflareOptions {
  const options: Record<string, unknown> = {
    workers,
    resourcePersistencePath: data,
    // Miniflare's own socket, which we do not use: on a port that is free.
    host: "127.0.0.1",
    port: 0,
    cf: false,
    telemetry: { enabled: false },
    logRequests: false,
    unsafeHandleRuntimeRestart: () =>
      console.error("workerd ended unexpectedly and was started again"),
    handleStructuredLogs: onLog,
  };
  // Miniflare checks the shape when it starts; its types only know one Worker written out by hand.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return convertV4MiniflareOptions(options as V4MiniflareOptions);
}
