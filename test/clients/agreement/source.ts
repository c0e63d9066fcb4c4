import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { ENVIRONMENT } from "../support/git.ts";
import { makeRandom } from "../../git/support/random.ts";

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
  const random = makeRandom(seed);
  return {
    commits: await lines("rev-list", "--branches", "--tags"),
    git,
    lines,
    sample: (items, count) => {
      const rest = [...items];
      const taken: typeof rest = [];
      while (taken.length < count && rest.length > 0) {
        taken.push(...rest.splice(random.below(rest.length), 1));
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
