import { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Readable } from "node:stream";

const drainTimeoutMs = 10_000;

/** How long the lines of workerd's log gather before they are read together. */
const GATHER_MS = 20;

/** What Node reads of a pipe at once, at most: after a full piece, more is there already. */
const PIECE_BYTES = 65_536;

/**
 * Reports each workerd that is started from now on: Miniflare does not expose the process, and starts
 * another one after a crash.
 *
 * @returns The latest process, and a function that stops the reports.
 */
export function watchWorkerd(onSpawn: (pid: number) => void): {
  latest: () => ChildProcess | undefined;
  stop: () => void;
} {
  let workerd: ChildProcess | undefined;
  const onChild = (message: unknown): void => {
    const isChild = typeof message === "object" && message !== null && "process" in message;
    const child = isChild ? message.process : undefined;
    if (!(child instanceof ChildProcess)) return;
    child.once("spawn", () => {
      if (!child.spawnfile.includes("workerd")) return;
      workerd = child;
      if (child.stdout) gatherOutput(child, child.stdout);
      if (child.pid !== undefined) onSpawn(child.pid);
    });
  };
  subscribe("child_process", onChild);
  return { latest: () => workerd, stop: () => void unsubscribe("child_process", onChild) };
}

/**
 * Lets workerd finish: on SIGTERM it accepts no more connections and exits after its last response. Miniflare would
 * treat the exit as a crash and start another process, unless it is disposed of at that moment.
 */
export async function drain(
  workerd: ChildProcess | undefined,
  dispose: () => Promise<void>,
): Promise<void> {
  if (workerd?.exitCode === null && workerd.signalCode === null) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, drainTimeoutMs);
      workerd.once("exit", () => {
        clearTimeout(timer);
        dispose().then(resolve, resolve);
      });
      workerd.kill("SIGTERM");
    });
  }
  await dispose();
}

/** The handle of a pipe, which Node has no public name for: a paused stream goes on reading until it has 64 KB. */
type PipeHandle = { readStart: () => unknown; readStop: () => unknown };

/**
 * Reads the output of a process in pieces: after each, what follows gathers in the pipe for a moment. Waking this process
 * for each line of the log takes as long as half of a small request. Nothing is lost when the writer ends, because the
 * pipe outlives it; a writer that fills the pipe waits until it is read.
 */
function gatherOutput(
  child: ChildProcess,
  output: Readable & { _handle?: PipeHandle | null },
): void {
  // oxlint-disable-next-line no-underscore-dangle -- Node's own name.
  const handle = (): PipeHandle | null | undefined => output._handle;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (): void => {
    clearTimeout(timer);
    handle()?.readStart();
  };
  child.once("exit", start);
  output.on("data", ({ length }: Buffer) => {
    if (length >= PIECE_BYTES || child.exitCode !== null || child.signalCode !== null) return;
    handle()?.readStop();
    timer = setTimeout(start, GATHER_MS);
  });
}
