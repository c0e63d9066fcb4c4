import { readdirSync, readFileSync } from "node:fs";

import { readCpuTime, readMemory } from "./process.ts";

/**
 * CPU time of a process so far, in seconds, with all processes that it has started, the ended ones
 * included.
 */
export function treeCpuSeconds(root: number): number {
  const children = readChildren();
  const secondsOf = (pid: number): number => {
    const below = (children.get(pid) ?? []).reduce((sum, child) => sum + secondsOf(child), 0);
    try {
      const { own, children: ended } = readCpuTime(pid);
      return own + ended + below;
    } catch (error) {
      // It has ended since the list was read: its parent's time includes it.
      if (isGone(error)) return below;
      throw error;
    }
  };
  return secondsOf(root);
}

/** The processes of a program below another process. */
export function findBelow(root: number, program: string): number[] {
  const children = readChildren();
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child].concat(below(child)));
  return below(root).filter((pid) => readCommand(pid) === program);
}

/**
 * Resident memory of a process and of all below it, in bytes. Memory that they share counts for
 * each.
 */
export function treeResidentBytes(root: number): number {
  const children = readChildren();
  const bytesOf = (pid: number): number =>
    (children.get(pid) ?? []).reduce(
      (sum, child) => sum + bytesOf(child),
      readMemory(pid).residentBytes,
    );
  return bytesOf(root);
}

/** @see proc_pid_comm(5): undefined for a process that has ended. */
function readCommand(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trimEnd();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** The processes of the machine by their parents. */
function readChildren(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? readParent(pid) : undefined;
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(pid);
    else children.set(parent, [pid]);
  }
  return children;
}

/** @see proc_pid_stat(5): field 4; the name before it may contain spaces. */
function readParent(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH");
