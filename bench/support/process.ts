import { readFileSync, writeFileSync } from "node:fs";

/** Clock ticks per second in /proc: USER_HZ, which is 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** CPU time in seconds: of the process itself, and of its children that have ended. */
export type CpuTime = { own: number; children: number };

/** @see proc_pid_stat(5): fields 14 to 17; the name before them may contain spaces. */
export function readCpuTime(pid: number): CpuTime {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const seconds = (field: number): number => Number(fields[field - 3]) / TICKS_PER_SECOND;
  return { own: seconds(14) + seconds(15), children: seconds(16) + seconds(17) };
}

/** Current resident memory, and its peak since `resetPeak`, in bytes. */
export function readMemory(pid: number): { residentBytes: number; peakBytes: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (name: string): number =>
    1024 * Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(status)?.[1] ?? Number.NaN);
  return { residentBytes: bytes("VmRSS"), peakBytes: bytes("VmHWM") };
}

/** @see proc_pid_clear_refs(5) */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
