import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { z } from "zod";

import { projectRoot } from "../../scripts/project.ts";

/**
 * The processes of `npm start`. Functions rather than methods, so that callers can pass them on.
 */
export type StartedService = {
  origin: string;
  /** The password of the administrator, whose name is `root`. */
  password: string;
  /** Process id of workerd. */
  runtimePid: () => number;
  /** Process id of `npm start`, whose child is workerd. */
  pid: () => number;
  /** Once its process has ended. */
  ended: Promise<unknown>;
  close: () => Promise<void>;
};

type Options = {
  /** Directory of the project; by default this one. */
  project?: string;
  /** Settings, and variables of the environment. */
  env?: Readonly<Record<string, string>>;
  /** Called with each line of its standard output. */
  onLine?: (line: string) => void;
  /** Called with each line of its standard error. */
  onError?: (line: string) => void;
};

const Holder = z.object({ runtime: z.object({ pid: z.number() }) });

/**
 * Runs `npm start` on a free port, in processes of its own, with its state in `data`, and waits
 * until it listens.
 */
export async function openStartedService(
  data: string,
  { project = projectRoot, env = {}, onLine, onError }: Options = {},
): Promise<StartedService> {
  const password = randomBytes(18).toString("base64url");
  const child = spawn(process.execPath, [join(project, "scripts/serve.ts")], {
    cwd: project,
    // Settings of the user's shell would change the results.
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      EDGEFORGE_PORT: "0",
      EDGEFORGE_DATA: data,
      EDGEFORGE_ADMIN_PASSWORD: password,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const errors: string[] = [];
  createInterface(child.stderr).on("line", (line) => {
    errors.push(line);
    onError?.(line);
  });
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const [, listening] = /^listening on (\S+)$/.exec(line) ?? [];
      if (listening === undefined) onLine?.(line);
      else resolve(listening);
    });
    child.once("exit", () => reject(new Error(`the service did not start: ${errors.join("\n")}`)));
  });

  const runtimePid = (): number => {
    const lock: unknown = JSON.parse(readFileSync(join(data, "lock"), "utf8"));
    return Holder.parse(lock).runtime.pid;
  };
  return {
    origin,
    password,
    runtimePid,
    pid: () => child.pid ?? 0,
    ended,
    close: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
