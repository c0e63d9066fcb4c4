import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";

/** A line of the log. */
export type LogLine = { level: "log" | "error"; message: string };

const DRAIN_MS = 10_000;

/** A running workerd. */
export type Workerd = { ended: Promise<unknown>; stop: () => Promise<boolean> };

type SpawnOptions = {
  args: string[];
  env: NodeJS.ProcessEnv;
  /** The names of the sockets on which it listens. */
  sockets: string[];
  /** An open file that it has as descriptor {@link INHERITED_FD}. */
  inherited?: number | undefined;
  /** Called with the process id. */
  onSpawn: (pid: number) => void;
  /** Called with each log line. Without it, workerd writes to the streams of this process. */
  onLog?: ((line: LogLine) => void) | undefined;
};

const CONTROL_FD = 3;
export const INHERITED_FD = 4;

/**
 * Starts workerd, at once.
 *
 * @returns Once it listens on all sockets.
 * @throws Refusal if it ends before.
 */
export async function spawnWorkerd({
  args,
  env,
  sockets,
  inherited,
  onSpawn,
  onLog,
}: SpawnOptions): Promise<Workerd> {
  const workerd: { default: string } = createRequire(inProject("package.json"))("workerd");
  // As for Miniflare, so that a profiler can start another program.
  const program = env["MINIFLARE_WORKERD_PATH"] ?? workerd.default;
  const output = onLog ? "pipe" : "inherit";
  // In a group of its own: Ctrl-C of a terminal is for this process, which stops workerd.
  const child = spawn(program, ["serve", `--control-fd=${CONTROL_FD}`, ...args], {
    env,
    stdio: ["ignore", output, output, "pipe", inherited ?? "ignore"],
    detached: true,
  });
  const ended = once(child, "exit");
  if (onLog) followLog(child, onLog);
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  onSpawn(pid);
  const stopGuard = guard(pid);
  void ended.then(stopGuard);
  const isListening = waitForSockets(child.stdio[CONTROL_FD] as Readable, sockets);
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

/** A workerd that is started again when it ends by itself. */
export type Supervised = {
  /**
   * Finishes what it does, within ten seconds, and stops.
   *
   * @returns Whether all was finished.
   */
  stop: () => Promise<boolean>;
};

/**
 * Starts a workerd by `start`, and again each time that it ended by itself; where that fails, ends
 * this process.
 *
 * @param name What it is, for the log.
 */
export async function supervise(name: string, start: () => Promise<Workerd>): Promise<Supervised> {
  let isStopping = false;
  let running = start();
  const watch = async (): Promise<void> => {
    await (
      await running
    ).ended;
    if (isStopping) return;
    console.error(`${name} ended unexpectedly and is started again`);
    running = start();
    await watch();
  };
  await running;
  void watch().catch((error: unknown) => {
    if (isStopping) return;
    console.error(error);
    process.kill(process.pid, "SIGTERM");
  });
  return {
    stop: async () => {
      isStopping = true;
      const last = await running.catch(() => undefined);
      return last ? last.stop() : true;
    },
  };
}
