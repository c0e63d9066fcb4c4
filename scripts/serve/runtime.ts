import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";
import { callControl } from "./control/client.ts";
import { ControlledDatabase } from "./control/database.ts";
import { reportDiskSpace } from "./disk-space.ts";
import { formatListenUrls } from "./listen-urls.ts";
import { receiveMails } from "./mail-files.ts";
import type { Database } from "./migrate.ts";
import { findFreePort } from "./port.ts";
import {
  CONTROL_SOCKET,
  HOST_SERVICES,
  PUBLIC_SOCKET,
  type RuntimeFiles,
  runtimeDirectory,
} from "./runtime-files.ts";
import type { Setup } from "./setup.ts";
import type { WorkerDescription } from "./worker.ts";

/** Functions rather than methods, so that callers can pass them on. */
export type Runtime = {
  /**
   * Starts workerd without the public socket: a request before the migrations would use an older
   * schema.
   */
  startPrivately: () => Promise<void>;
  /**
   * Starts workerd with the public socket, in place of the private one, and tells the Worker its
   * address.
   */
  listen: (host: string, port: number) => Promise<URL>;
  database: Database;
  /** The Worker's entrypoint for the start, which no public socket exposes. */
  setup: Setup;
  fire: (cron: string, at: Date) => Promise<unknown>;
  /**
   * Finishes the requests in progress, within ten seconds, then stops.
   *
   * @returns Whether all were finished.
   */
  close: () => Promise<boolean>;
};

/** A line of the log. */
export type LogLine = { level: "log" | "error"; message: string };

const DRAIN_MS = 10_000;

/** The longest path of a socket that all systems take. */
const SOCKET_PATH_MAX = 100;

/**
 * Prepares to run the built Worker in workerd. The files of `buildRuntime` must be there.
 *
 * @param data    Directory for the state of all bindings.
 * @param onSpawn Called with the process id of each workerd.
 * @param onLog   Called with each log line of the Worker. Without it, workerd writes to the
 * streams of this process.
 */
export async function openRuntime(
  worker: WorkerDescription,
  data: string,
  onSpawn: (pid: number) => void,
  onLog?: (line: LogLine) => void,
): Promise<Runtime> {
  const files = inProject(runtimeDirectory(worker));
  const sockets = makeSocketDirectory();
  const controlPath = join(sockets, "control");
  const hostServices = {
    [HOST_SERVICES.MAIL_FILES]: await receiveMails(join(sockets, "mail"), data),
    [HOST_SERVICES.DISK_SPACE]: await reportDiskSpace(join(sockets, "disk"), data),
  };
  let running: Workerd | undefined;
  let isClosing = false;

  const start = async (publicAddress: string, vars: WorkerDescription["vars"]): Promise<void> => {
    const args = [
      "serve",
      "--binary",
      "--experimental",
      `--socket-addr=${PUBLIC_SOCKET}=${publicAddress}`,
      `--socket-addr=${CONTROL_SOCKET}=unix:${controlPath}`,
      ...Object.entries(hostServices).map(
        ([name, { path }]) => `--external-addr=${name}=unix:${path}`,
      ),
      ...directoriesIn(files, data).map(([name, path]) => `--directory-path=${name}=${path}`),
      "--control-fd=3",
      join(files, "config.bin"),
    ];
    rmSync(controlPath, { force: true });
    const env = { ...process.env, TZ: "UTC", ...textOf(vars, worker.variables) };
    const started = await spawnWorkerd(args, env, onSpawn, onLog);
    running = started;
    void startAgain(started, () => start(publicAddress, vars));
  };
  /** Starts workerd again after it ended by itself; where that fails, ends this process. */
  const startAgain = async (started: Workerd, again: () => Promise<void>): Promise<void> => {
    await started.ended;
    if (isClosing || running !== started) return;
    console.error("workerd ended unexpectedly and is started again");
    await again().catch((error: unknown) => {
      console.error(error);
      process.kill(process.pid, "SIGTERM");
    });
  };
  const stop = async (): Promise<boolean> => {
    const before = running;
    running = undefined;
    return before ? await before.stop() : true;
  };
  const call = callControl(controlPath);

  return {
    startPrivately: () => start(`unix:${join(sockets, "private")}`, worker.vars),
    listen: async (host, port) => {
      const bound = port === 0 ? await findFreePort(host) : port;
      await stop();
      const address = host.includes(":") ? `[${host}]:${bound}` : `${host}:${bound}`;
      const listenUrls = formatListenUrls(host, bound, worker.vars);
      await start(address, { ...worker.vars, LISTEN_URLS: listenUrls });
      return new URL(`http://${address}`);
    },
    database: new ControlledDatabase(call),
    setup: {
      createFirstAdministrator: (account) =>
        call({ kind: "setup", method: "createFirstAdministrator", args: [account] }) as ReturnType<
          Setup["createFirstAdministrator"]
        >,
      releaseLeases: async () => {
        await call({ kind: "setup", method: "releaseLeases", args: [] });
      },
    },
    fire: (cron, at) => call({ kind: "scheduled", cron, at: at.getTime() }),
    close: async () => {
      isClosing = true;
      const isFinished = await stop();
      for (const service of Object.values(hostServices)) service.close();
      rmSync(sockets, { recursive: true, force: true });
      return isFinished;
    },
  };
}

/** A directory that this user alone can enter, for sockets, whose paths must be short. */
function makeSocketDirectory(): string {
  const made = mkdtempSync(join(tmpdir(), "edgeforge-"));
  if (join(made, "control").length <= SOCKET_PATH_MAX) return made;
  rmSync(made, { recursive: true });
  return mkdtempSync("/tmp/edgeforge-");
}

/**
 * The directories of the state, which exist then, by the names of the services that store files in
 * them.
 */
function directoriesIn(files: string, data: string): [name: string, path: string][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- buildRuntime writes it.
  const { directories } = JSON.parse(
    readFileSync(join(files, "files.json"), "utf8"),
  ) as RuntimeFiles;
  return Object.entries(directories).map(([name, below]) => {
    const path = join(data, below);
    mkdirSync(path, { recursive: true });
    return [name, path];
  });
}

/**
 * Variables as an environment has them. One without a value is empty, which the Worker takes for
 * its default.
 */
const textOf = (vars: WorkerDescription["vars"], names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.map((name) => {
      const value = vars[name] ?? "";
      return [name, typeof value === "string" ? value : JSON.stringify(value)];
    }),
  );

/** A running workerd. */
type Workerd = { ended: Promise<unknown>; stop: () => Promise<boolean> };

/** @returns Once it listens on all sockets. @throws Refusal if it ends before. */
async function spawnWorkerd(
  args: string[],
  env: NodeJS.ProcessEnv,
  onSpawn: (pid: number) => void,
  onLog: ((line: LogLine) => void) | undefined,
): Promise<Workerd> {
  const workerd: { default: string } = createRequire(inProject("package.json"))("workerd");
  // As for Miniflare, so that a profiler can start another program.
  const program = env["MINIFLARE_WORKERD_PATH"] ?? workerd.default;
  const output = onLog ? "pipe" : "inherit";
  // In a group of its own: Ctrl-C of a terminal is for this process, which stops workerd.
  const child = spawn(program, args, {
    env,
    stdio: ["ignore", output, output, "pipe"],
    detached: true,
  });
  const ended = once(child, "exit");
  if (onLog) followLog(child, onLog);
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  onSpawn(pid);
  const stopGuard = guard(pid);
  void ended.then(stopGuard);
  const isListening = waitForSockets(child.stdio[3] as Readable, [PUBLIC_SOCKET, CONTROL_SOCKET]);
  if (!(await Promise.race([isListening, ended.then(() => false)]))) {
    throw new Refusal("workerd ended before it listened; its log above has the reason");
  }
  return {
    ended,
    // On SIGTERM it accepts no more connections and exits after its last response.
    stop: async () => {
      child.kill("SIGTERM");
      let isFinished = true;
      const timer = setTimeout(() => {
        isFinished = false;
        child.kill("SIGKILL");
      }, DRAIN_MS);
      await ended;
      clearTimeout(timer);
      return isFinished;
    },
  };
}

/**
 * Ends workerd when this process ends in any way: it would keep the port and the state from the
 * next start.
 *
 * A shell waits at the end of a pipe that this process never writes to.
 */
function guard(pid: number): () => void {
  const script = 'read -r _; kill -TERM "$0" && sleep 10 && kill -KILL "$0"';
  const shell = spawn("/bin/sh", ["-c", script, String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  shell.on("error", () => {});
  shell.unref();
  return () => void shell.kill("SIGKILL");
}

/** @returns Whether workerd names all sockets on its control pipe. */
async function waitForSockets(control: Readable, names: string[]): Promise<boolean> {
  const missing = new Set(names);
  for await (const line of createInterface(control)) {
    const { event, socket } = JSON.parse(line) as { event: string; socket: string };
    if (event === "listen") missing.delete(socket);
    if (missing.size === 0) return true;
  }
  return false;
}

function followLog({ stdout, stderr }: ChildProcess, onLog: (line: LogLine) => void): void {
  for (const [stream, level] of [
    [stdout, "log"],
    [stderr, "error"],
  ] as const) {
    if (stream) createInterface(stream).on("line", (message) => onLog({ level, message }));
  }
}
