import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { z } from "zod";

/**
 * One run of a process. Its number alone is not enough: in a container that starts again, the
 * same numbers belong to other programs.
 */
export const ProcessMark = z.object({ pid: z.number(), started: z.string() });
export type ProcessMark = z.infer<typeof ProcessMark>;

/** @returns undefined when no such process runs. */
export function markOf(pid: number): ProcessMark | undefined {
  const started = process.platform === "linux" ? startInProc(pid) : startInPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(mark: ProcessMark): boolean {
  return markOf(mark.pid)?.started === mark.started;
}

/** @see proc_pid_stat(5): state is field 3, starttime is field 22, and the name before them may hold spaces. */
function startInProc(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const isGone = fields === undefined || fields[0] === "Z";
  if (isGone) return undefined;
  // Ticks since the machine started: of one start only.
  return `${read("/proc/sys/kernel/random/boot_id")?.trim() ?? ""} ${fields[19] ?? ""}`;
}

function startInPs(pid: number): string | undefined {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return undefined; // ps answers 1 when there is no such process
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // the process ended meanwhile
  }
}
