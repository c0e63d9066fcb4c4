import { fork } from "node:child_process";
import { once } from "node:events";

import { inProject } from "../../scripts/project.ts";
import { readCpuTime } from "../support/process.ts";
import type { Arrival, ReceiverMessage } from "./arrival.ts";

/** Functions rather than methods, so that callers can pass them on. */
export type Receiver = {
  origin: string;
  /** Waits for `count` deliveries since the last call, not counting repeats, and returns them. */
  take: (count: number) => Promise<Arrival[]>;
  /** CPU time of its process so far. */
  cpuSeconds: () => number;
  close: () => Promise<void>;
};

const WAIT_MS = 90_000;
const LOOK_MS = 2;

/** Starts the receiver on a free port. */
export async function openReceiver(): Promise<Receiver> {
  const child = fork(inProject("bench/events/receiver-process.ts"), { stdio: "inherit" });
  let arrivals = new Map<string, Arrival>();
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the receiver ended")));
    child.on("message", (message) => {
      const parsed = message as ReceiverMessage;
      if ("port" in parsed) return resolve(parsed.port);
      const key = `${parsed.path} ${parsed.commit}`;
      // A repeated delivery keeps its first arrival.
      if (!arrivals.has(key)) arrivals.set(key, parsed);
    });
  });

  return {
    origin: `http://127.0.0.1:${port}`,
    take: async (count) => {
      for (const end = Date.now() + WAIT_MS; arrivals.size < count;) {
        if (Date.now() > end) {
          throw new Error(`${arrivals.size} of ${count} deliveries arrived in ${WAIT_MS / 1000} s`);
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
      const taken = [...arrivals.values()];
      arrivals = new Map();
      return taken;
    },
    cpuSeconds: () => readCpuTime(child.pid ?? 0).own,
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}
