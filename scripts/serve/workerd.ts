import { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

const drainTimeoutMs = 10_000;

/**
 * Learns of each workerd that is started from now on: Miniflare keeps the process to itself, and starts
 * another when one crashes.
 *
 * @returns The latest, and how to learn of no more.
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
 * Lets workerd finish: on SIGTERM it takes no more connections and ends with its last answer. Miniflare would
 * take that end for a crash and start another, unless it is being disposed of at that moment.
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
