import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { ENVIRONMENT } from "../support/git.ts";

const run = promisify(execFile);

const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024;

/** A repository read by git. */
export interface Source {
  /** All commits that are reachable from a branch or tag, newest first. */
  readonly commits: readonly string[];
  git(...args: string[]): Promise<Buffer>;
  /** The lines of git's output, as UTF-8 text. */
  lines(...args: string[]): Promise<string[]>;
  /** Chooses `count` items of a list, the same ones for the same seed. */
  sample<Item>(items: readonly Item[], count: number): Item[];
  push(url: string, options: readonly string[]): Promise<void>;
}

export async function openSource(directory: string, seed: number): Promise<Source> {
  const git = async (...args: string[]): Promise<Buffer> => {
    const { stdout } = await run("git", args, {
      cwd: directory,
      env: ENVIRONMENT,
      encoding: "buffer",
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    return stdout;
  };
  const lines = async (...args: string[]): Promise<string[]> =>
    (await git(...args))
      .toString()
      .split("\n")
      .filter((line) => line !== "");
  const random = mulberry32(seed);
  return {
    commits: await lines("rev-list", "--branches", "--tags"),
    git,
    lines,
    sample: (items, count) => {
      const rest = [...items];
      const taken: typeof rest = [];
      while (taken.length < count && rest.length > 0) {
        taken.push(...rest.splice(Math.floor(random() * rest.length), 1));
      }
      return taken;
    },
    push: async (url, options) => {
      await git(
        ...options,
        "push",
        "--quiet",
        url,
        "refs/heads/*:refs/heads/*",
        "refs/tags/*:refs/tags/*",
      );
    },
  };
}

/** A generator of numbers from 0 to less than 1, the same ones for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
