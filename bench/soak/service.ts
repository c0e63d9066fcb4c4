import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { z } from "zod";

import { inProject } from "../../scripts/project.ts";

/** The process of `npm start`. Functions rather than methods, so that callers can pass them on. */
export type SoakService = {
  origin: string;
  password: string;
  /** Process id of workerd. */
  runtimePid: () => number;
  /** Lines of its output that report an error. */
  errors: () => readonly string[];
  close: () => Promise<void>;
};

const Holder = z.object({ runtime: z.object({ pid: z.number() }) });

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

/** Starts the service on a free port, with its state in `data`, and waits until it listens. */
export async function openSoakService(data: string): Promise<SoakService> {
  const password = randomBytes(18).toString("base64url");
  // Settings of the user's shell would change the results.
  const env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    EDGEFORGE_PORT: "0",
    EDGEFORGE_DATA: data,
    EDGEFORGE_ADMIN_PASSWORD: password,
  };
  const child = spawn(process.execPath, [inProject("scripts/serve.ts")], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const errors: string[] = [];
  createInterface(child.stderr).on("line", (line) => errors.push(line));
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const [, listening] = /^listening on (\S+)$/.exec(line) ?? [];
      if (listening !== undefined) resolve(listening);
      else if (isFault(line)) errors.push(line);
    });
    child.once("exit", () => reject(new Error(`the service did not start: ${errors.join("\n")}`)));
  });

  return {
    origin,
    password,
    runtimePid: () => {
      const lock: unknown = JSON.parse(readFileSync(join(data, "lock"), "utf8"));
      return Holder.parse(lock).runtime.pid;
    },
    errors: () => errors,
    close: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Whether a line of the log reports a fault: responses of 5xx included. */
export function isFault(line: string): boolean {
  if (!line.startsWith("{")) return false;
  const { data } = LogLine.safeParse(JSON.parse(line));
  return data !== undefined && (FAULTS.has(data.event) || (data.status ?? 0) >= 500);
}
