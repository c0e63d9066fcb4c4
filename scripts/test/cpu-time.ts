import { readdirSync, readFileSync } from "node:fs";

/** A tick of the kernel's clock: Linux reports 100 per second on every machine. */
const TICK_MS = 10;

/**
 * CPU time of this process and all its descendants, ended ones too, in milliseconds; undefined
 * without /proc.
 */
export function cpuTimeMs(): number | undefined {
  const processes = new Map<number, { parent: number; ticks: number }>();
  for (const name of directoriesOf("/proc")) {
    // The second field, the command, is in parentheses and may contain any character.
    const fields = statOf(name)?.split(") ").at(-1)?.split(" ");
    if (!fields) continue;
    // User and system time of the process, then of its children that have ended: none is lost with
    // a process.
    const times = fields.slice(11, 15).map(Number);
    const ticks = times.reduce((sum, time) => sum + time, 0);
    processes.set(Number(name), { parent: Number(fields[1]), ticks });
  }
  if (!processes.has(process.pid)) return undefined;
  let ticks = 0;
  for (const [pid, each] of processes) if (isDescendant(pid, processes)) ticks += each.ticks;
  return ticks * TICK_MS;
}

function isDescendant(pid: number, processes: ReadonlyMap<number, { parent: number }>): boolean {
  for (let at: number | undefined = pid; at; at = processes.get(at)?.parent) {
    if (at === process.pid) return true;
  }
  return false;
}

function directoriesOf(path: string): string[] {
  try {
    return readdirSync(path).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** @returns undefined for a process that has ended in the meantime. */
function statOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
}
