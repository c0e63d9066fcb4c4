import { createHash } from "node:crypto";

import type { WorkerDescription } from "./worker.ts";

/** The configurations: of one process, and of the two kinds of processes of several. */
export type Role = "single" | "keeper" | "entry";

/** The arguments of the runtime besides its configuration. */
export type RuntimeFiles = {
  /** The directory below the state of each service that stores files. */
  directories: Record<string, string>;
  /** What an entry process has: services that read files, and those that reach the keeper. */
  entry: { directories: string[]; externals: string[] };
};

/**
 * The names of sockets, and of the services of this process by the Worker's bindings to them, in
 * the configuration. The command line has their addresses.
 */
export const PUBLIC_SOCKET = "public";
export const CONTROL_SOCKET = "control";
export const HOST_SERVICES = { MAIL_FILES: "mail", DISK_SPACE: "disk" } as const;

/**
 * The directory of the configuration for a Worker, inside the project. Values of variables are no
 * part of it.
 */
export function runtimeDirectory({
  name,
  variables,
  options,
}: Omit<WorkerDescription, "vars" | "crons">): string {
  const described = JSON.stringify([name, variables, options]);
  return `dist/runtime/${createHash("sha256").update(described).digest("hex").slice(0, 16)}`;
}
