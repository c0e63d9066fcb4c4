import { fork } from "node:child_process";
import { once } from "node:events";

import { inProject } from "../../scripts/project.ts";
import type { Arrival, ReceiverMessage } from "./arrival.ts";

/** Functions rather than methods: they may be handed on. */
export type Receiver = {
  origin: string;
  /** Waits until so many deliveries have come since the last call, repeats not counted, and returns them. */
  take: (count: number) => Promise<Arrival[]>;
  close: () => Promise<void>;
};

const WAIT_MS = 90_000;
const LOOK_MS = 2;

/** Starts the receiver on a port that is free. */
export async function openReceiver(): Promise<Receiver> {
  const child = fork(inProject("bench/events/receiver-process.ts"), { stdio: "inherit" });
  let arrivals = new Map<string, Arrival>();
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the receiver ended")));
    child.on("message", (message) => {
      const said = message as ReceiverMessage;
      if ("port" in said) return resolve(said.port);
      const key = `${said.path} ${said.commit}`;
      // What comes again was there the first time.
      if (!arrivals.has(key)) arrivals.set(key, said);
    });
  });

  return {
    origin: `http://127.0.0.1:${port}`,
    take: async (count) => {
      for (const end = Date.now() + WAIT_MS; arrivals.size < count;) {
        if (Date.now() > end) {
          throw new Error(`${arrivals.size} of ${count} deliveries came in ${WAIT_MS / 1000} s`);
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
      const taken = [...arrivals.values()];
      arrivals = new Map();
      return taken;
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}
