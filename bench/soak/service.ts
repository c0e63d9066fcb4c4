import { z } from "zod";

import { openStartedService, type StartedService } from "../support/started-service.ts";

/**
 * The processes of `npm start`, which are killed and started again. Functions rather than methods.
 */
export type SoakService = {
  origin: string;
  /** The password of the administrator, whose name is `root`. */
  password: string;
  /** Process id of workerd. */
  runtimePid: () => number;
  /** Kills all its processes without a warning, and starts it again on the same port and state. */
  kill: () => Promise<void>;
  kills: () => number;
  /** Lines of its output that report an error. */
  errors: () => readonly string[];
  /**
   * Does work, and repeats it if the service was killed during it: its caller can't know what was
   * done.
   *
   * @param work Receives whether it is a repetition.
   */
  surviving: <Result>(work: (isRepeated: boolean) => Promise<Result>) => Promise<Result>;
  close: () => Promise<void>;
};

/** Events of the log that need the operator's attention. */
const FAULTS = new Set([
  "request:bug",
  "dispatch:given-up",
  "dispatch:lease-lost",
  "dispatch:payload-too-large",
  "events:not-queued",
  "hooks:unsealable",
  "receive:not-recorded",
]);

const LogLine = z.object({ event: z.string(), status: z.number().optional() });

/** Runs `npm start` with its state in `data`, and collects the errors that it reports. */
export async function openSoakService(data: string): Promise<SoakService> {
  const errors: string[] = [];
  const start = (port: string): Promise<StartedService> =>
    openStartedService(data, {
      env: { EDGEFORGE_PORT: port },
      onLine: (line) => void (isFault(line) && errors.push(line)),
      onError: (line) => errors.push(line),
    });
  let running = await start("0");
  const { origin, password } = running;
  const { port } = new URL(origin);
  let kills = 0;
  let started = Promise.resolve();

  const restart = async (): Promise<void> => {
    const { pid, runtimePid, ended } = running;
    const pids = [pid(), runtimePid()];
    for (const each of pids) process.kill(each, "SIGKILL");
    await ended;
    running = await start(port);
  };
  return {
    origin,
    password,
    runtimePid: () => running.runtimePid(),
    kills: () => kills,
    errors: () => errors,
    kill: () => {
      kills++;
      started = restart();
      return started;
    },
    surviving: async (work) => {
      for (let isRepeated = false; ; isRepeated = true) {
        await started;
        const before = kills;
        try {
          return await work(isRepeated);
        } catch (error) {
          if (kills === before) throw error;
        }
      }
    },
    close: async () => {
      await started.catch(() => undefined);
      await running.close();
    },
  };
}

/** Whether a line of the log reports a fault: responses of 5xx included. */
export function isFault(line: string): boolean {
  if (!line.startsWith("{")) return false;
  const { data } = LogLine.safeParse(JSON.parse(line));
  return data !== undefined && (FAULTS.has(data.event) || (data.status ?? 0) >= 500);
}
