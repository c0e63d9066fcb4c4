import {
  convertV4MiniflareOptions,
  Miniflare,
  type MiniflareOptions,
  type V4MiniflareOptions,
} from "miniflare";

import { buildLocalBindings } from "../build/local-bindings.ts";
import { builtModules } from "../build/modules.ts";
import type { Database } from "./migrate.ts";
import { formatListenUrls } from "./listen-urls.ts";
import { openMailFiles } from "./mail-files.ts";
import { findFreePort } from "./port.ts";
import type { Setup } from "./setup.ts";
import { withoutSignalHandlers } from "./signals.ts";
import { drain, watchWorkerd } from "./workerd.ts";
import type { WorkerDescription } from "./worker.ts";

/** Functions rather than methods, so that callers can pass them on. */
export type Runtime = {
  /** The database bound as DB. */
  database: () => Promise<Database>;
  /** The Worker's entrypoint for the start, which no socket exposes. */
  setup: () => Promise<Setup>;
  /** Opens the public socket, and tells the Worker its address; `setup` is unavailable from then on. */
  listen: (host: string, port: number) => Promise<URL>;
  fire: (cron: string, at: Date) => Promise<unknown>;
  /** Finishes the requests in progress, within ten seconds, then stops. */
  close: () => Promise<void>;
};

/** The name of the Worker that holds the public socket. */
const SOCKET = "socket";

/**
 * Flags of V8, which let garbage be collected while there is little of it.
 *
 * By V8's own measure, each isolate may first fill hundreds of megabytes. There are about twenty, since each simulator
 * of a binding has its own, and each response or stream in their garbage holds memory that V8 does not count:
 * after 6,000 requests the process held 870 MB, of which V8 counted 290 and the Worker used 15. A young generation
 * of 1 MB would hold less still, for a fifth more CPU time of a request.
 *
 * With an old generation of 4 MB at first instead of 1, and without `--optimize-for-size`, the process held 13 % more
 * after 3,400 steps of `npm run bench:soak`, for the same CPU time: probably since the simulators allocate little, and
 * so keep their garbage until V8 collects it for the first time.
 */
const V8_FLAGS = [
  "--optimize-for-size",
  "--initial-old-space-size=1",
  "--heap-growing-percent=50",
  "--max-semi-space-size=2",
];

/** A log line of a Worker. */
export type LogLine = { level: string; message: string };

/**
 * Starts workerd with the built Worker, and without a public socket: a request
 * before the migrations would use an older schema.
 *
 * @param data    Directory for the state of all bindings.
 * @param onSpawn Called with the process id of each workerd.
 * @param onLog   Called with each log line of the Worker.
 */
export async function openRuntime(
  { name, vars, options }: WorkerDescription,
  data: string,
  onSpawn: (pid: number) => void,
  onLog: (line: LogLine) => void = printLog,
): Promise<Runtime> {
  const workerd = watchWorkerd(onSpawn);
  // Miniflare takes the flags from the environment only.
  process.env["MINIFLARE_WORKERD_V8_FLAGS"] ??= V8_FLAGS.join(" ");
  await buildLocalBindings();
  const worker = {
    ...options,
    ...(await builtModules()),
    name,
    bindings: vars,
    serviceBindings: { MAIL_FILES: openMailFiles(data) },
  };
  const mf = withoutSignalHandlers(
    () => new Miniflare(miniflareOptions(data, [worker, callerOf(name)], onLog)),
  );
  await mf.ready;

  return {
    database: async () => (await mf.getBindings<{ DB: Database }>(name)).DB,
    setup: async () => (await mf.getBindings<{ SETUP: Setup }>("setup")).SETUP,
    listen: async (host, port) => {
      const bound = port === 0 ? await findFreePort(host) : port;
      const bindings = { ...vars, LISTEN_URLS: formatListenUrls(host, bound, vars) };
      const workers = [{ ...worker, bindings }, socketOf(name, host, bound)];
      await mf.setOptions(miniflareOptions(data, workers, onLog));
      return mf.unsafeGetDirectURL(SOCKET);
    },
    fire: async (cron, at) => (await mf.getWorker(name)).scheduled({ cron, scheduledTime: at }),
    close: () => drain(workerd.latest(), () => mf.dispose()).finally(workerd.stop),
  };
}

/** A Worker that only provides a binding, through which this process calls the service's entrypoint. */
function callerOf(name: string): object {
  return {
    name: "setup",
    modules: true,
    script: "export default {}",
    serviceBindings: { SETUP: { name, entrypoint: "Setup" } },
  };
}

/**
 * A Worker that only provides a socket to the service's default entrypoint. On a socket of the service itself,
 * Miniflare would put two Workers before it, because it has assets, although the service runs before its assets
 * anyway; they take longer than a small request.
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
  // Lines that were read together are written together.
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  stream.write(`${message}\n`);
}

/** Miniflare's options for every runtime of this project. */
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
    unsafeHandleRuntimeRestart: () =>
      console.error("workerd ended unexpectedly and was started again"),
    handleStructuredLogs: onLog,
  };
  // Miniflare checks the shape when it starts; its types only cover the options of a single Worker.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return convertV4MiniflareOptions(options as V4MiniflareOptions);
}
