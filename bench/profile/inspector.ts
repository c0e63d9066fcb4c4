import { chmodSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { z } from "zod";

import { inProject } from "../../scripts/project.ts";

/** A profile of V8: how often each function was found running, by its position in the bundle. */
export type Profile = z.infer<typeof Profile>;

const Profile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({
        functionName: z.string(),
        url: z.string(),
        /** From 0, as the column. */
        lineNumber: z.number(),
        columnNumber: z.number(),
      }),
      children: z.array(z.number()).optional(),
    }),
  ),
  /** The ids of the nodes that were found running. */
  samples: z.array(z.number()),
  /** Microseconds before each sample. */
  timeDeltas: z.array(z.number()),
});

/** Time between two samples, in microseconds. */
const SAMPLE_US = 500;

/** The name by which Miniflare's runtime knows the service. */
export const SERVICE = "core:user:edgeforge";

const Answer = z.object({ id: z.number().optional(), result: z.unknown().optional() });

/**
 * Writes a program that starts workerd with an inspector. Miniflare's own option would put a proxy
 * in this process before the inspector, and needs settings of `npm start` that nobody else does.
 *
 * @returns The variables with which `npm start` uses it.
 */
export function writeProfiledRuntime(directory: string, port: number): Record<string, string> {
  // The project's own, for each of the versions that are compared.
  const workerd: { default: string } = createRequire(inProject("package.json"))("workerd");
  // The name by which `npm start` recognizes the runtime.
  const program = join(directory, "workerd");
  writeFileSync(
    program,
    `#!/bin/sh\ncommand=$1\nshift\nexec "${workerd.default}" "$command" "--inspector-addr=127.0.0.1:${port}" "$@"\n`,
  );
  chmodSync(program, 0o755);
  return { MINIFLARE_WORKERD_PATH: program };
}

/**
 * The time that a sample stands for, in milliseconds: the usual one between two samples, without
 * the gaps in which the isolate did not run: timers are late by a share of it.
 */
export function sampleMs({ timeDeltas }: Profile): number {
  const sorted = timeDeltas.toSorted((a, b) => a - b);
  const usual = sorted.filter((delta) => delta <= 3 * (sorted[sorted.length >> 1] ?? 0));
  return usual.reduce((sum, delta) => sum + delta, 0) / usual.length / 1000;
}

/**
 * Profiles isolates while something runs.
 *
 * @param names The names by which the runtime knows them.
 * @returns Their profiles, in this order.
 */
export async function profileWhile(
  port: number,
  names: readonly string[],
  run: () => Promise<void>,
): Promise<Profile[]> {
  const sessions = await Promise.all(names.map((name) => openSession(port, name)));
  for (const { call } of sessions) {
    await call("Profiler.enable");
    await call("Profiler.setSamplingInterval", { interval: SAMPLE_US });
    await call("Profiler.start");
  }
  await run();
  const profiles: Profile[] = [];
  for (const { call, close } of sessions) {
    const { profile } = z.object({ profile: Profile }).parse(await call("Profiler.stop"));
    profiles.push(profile);
    close();
  }
  return profiles;
}

/** A connection to the inspector of an isolate. */
type Session = {
  call: (method: string, params?: object) => Promise<unknown>;
  close: () => void;
};

async function openSession(port: number, name: string): Promise<Session> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/${name}`);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error("the runtime has no inspector")));
  });
  const pending = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = Answer.parse(JSON.parse(String(data)));
    if (id !== undefined) pending.get(id)?.(result);
  });
  let sent = 0;
  return {
    call: (method, params = {}) =>
      new Promise((resolve) => {
        pending.set((sent += 1), resolve);
        socket.send(JSON.stringify({ id: sent, method, params }));
      }),
    close: () => socket.close(),
  };
}
