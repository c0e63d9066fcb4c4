import { join } from "node:path";

import { git } from "../git/git.ts";
import type { Source } from "../git/source.ts";
import type { EdgeForge } from "./forge.ts";

/** A repository of one of the services. */
export type Repository = { forge: EdgeForge; source: Source; name: string; url: string };

/** Something that is done once with a new repository, in a directory of its own. */
type Case = {
  name: string;
  prepare?: (repository: Repository, directory: string) => Promise<unknown>;
  /** The part that is measured. */
  work: (repository: Repository, directory: string) => Promise<void>;
  /** The size of the pack that it received. */
  receivedBytes?: (directory: string) => Promise<number>;
};

const AT_ONCE = 8;

const push = async ({ forge, url }: Repository, from: string, ...what: string[]): Promise<void> => {
  await git(from, [...forge.writeOptions, "push", "--quiet", url, ...what]);
};

const clone = (name: string, ...options: string[]): Case => ({
  name,
  work: async ({ url }, directory) => {
    await git(directory, ["clone", "--quiet", "--bare", ...options, url, "clone"]);
  },
  receivedBytes: async (directory) => {
    const counts = await git(join(directory, "clone"), ["count-objects", "-v"]);
    return 1024 * Number(/^size-pack: (\d+)$/m.exec(counts)?.[1]);
  },
});

/** In the order in which they are run: each finds what those before it have done. */
export const CASES: readonly Case[] = [
  {
    name: "push of a history",
    work: (repository) =>
      push(
        repository,
        repository.source.path,
        "refs/heads/*:refs/heads/*",
        "refs/tags/*:refs/tags/*",
      ),
  },
  {
    ...clone("depth-1 clone, the first", "--depth=1"),
    prepare: ({ forge, name }) => forge.compact(name),
  },
  clone("depth-1 clone, the second", "--depth=1"),
  {
    name: `${AT_ONCE} depth-1 clones at once`,
    work: async ({ url }, directory) => {
      const clones = Array.from({ length: AT_ONCE }, (_, at) =>
        git(directory, ["clone", "--quiet", "--bare", "--depth=1", url, `clone-${at}`]),
      );
      // The others end too before their directory is removed.
      await Promise.allSettled(clones);
      await Promise.all(clones);
    },
  },
  clone("clone"),
  {
    name: "fork",
    work: ({ forge, name }) => forge.fork(name, `${name}-fork`),
  },
  {
    name: "push of a commit",
    work: (repository) =>
      push(repository, repository.source.nextPath, `refs/heads/${repository.source.branch}`),
  },
  clone("clone after one more push"),
  {
    name: "fetch of a commit",
    prepare: ({ source }, directory) =>
      git(directory, ["clone", "--quiet", "--bare", "--shared", source.path, "clone"]),
    work: async ({ url }, directory) => {
      const what = "+refs/heads/*:refs/heads/*";
      await git(join(directory, "clone"), ["fetch", "--quiet", url, what]);
    },
  },
];
