import { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

const drainTimeoutMs = 10_000;

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
