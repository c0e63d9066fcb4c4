import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { z } from "zod";

/**
 * Identifies a process by id and start time. The id alone is ambiguous: in a restarted container,
 * the same ids belong to other programs.
 */
export const ProcessIdentity = z.object({ pid: z.number(), started: z.string() });
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** @returns undefined if no such process runs. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const started = process.platform === "linux" ? startInProc(pid) : startInPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.started === identity.started;
}

/**
 * @see proc_pid_stat(5): state is field 3, starttime is field 22, and the name before them may
 *   contain spaces.
 */
function startInProc(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const hasEnded = fields === undefined || fields[0] === "Z";
  if (hasEnded) return undefined;
  // Ticks since the machine started, so the boot id is part of the identity.
  return `${read("/proc/sys/kernel/random/boot_id")?.trim() ?? ""} ${fields[19] ?? ""}`;
}

function startInPs(pid: number): string | undefined {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return undefined; // ps exits with 1 if the process does not exist
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // the process ended in the meantime
  }
}
