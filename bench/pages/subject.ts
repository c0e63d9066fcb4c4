import { git } from "../git/git.ts";
import type { Subject } from "./cases.ts";

/** How much of a history is looked at to choose the commit. */
const RECENT = 200;

/**
 * Chooses what a history is measured with: the directory with the most entries, the file of its
 * root that the most recent commits have changed, and the commit among them with the most files.
 */
export async function chooseSubject(history: string): Promise<Subject> {
  const read = (...args: string[]) => git(history, args);
  const entries = new Map<string, number>();
  for (const path of (await read("ls-tree", "-r", "--name-only", "HEAD")).split("\n")) {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (folder !== "") entries.set(folder, (entries.get(folder) ?? 0) + 1);
  }
  const log = await read("log", `-${RECENT}`, "--no-merges", "--name-only", "--format=%x00%H");
  const changes = new Map<string, number>();
  const files = new Map<string, number>();
  for (const [commit = "", , ...paths] of log.split("\0").map((part) => part.split("\n"))) {
    files.set(commit, paths.length);
    for (const path of paths.filter((each) => each !== "" && !each.includes("/"))) {
      changes.set(path, (changes.get(path) ?? 0) + 1);
    }
  }
  return {
    directory: largest(entries),
    file: largest(changes),
    commit: largest(files),
  };
}

function largest(counts: ReadonlyMap<string, number>): string {
  const [first] = [...counts].toSorted(([, a], [, b]) => b - a);
  if (!first) throw new Error("the history has nothing to measure");
  return first[0];
}
