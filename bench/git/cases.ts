import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { CaseName } from "./case-names.ts";
import type { Forge } from "./forge.ts";
import { git } from "./git.ts";
import { drainPack } from "./pack-drain.ts";
import { listRefs, type Source } from "./source.ts";

/** One side of the comparison, with one repository. */
export type Side = {
  forge: Forge;
  source: Source;
  /** Name and URL of the repository on this side; they change with each push. */
  name: string;
  url: string;
  /** The refs that were pushed since, as those of the source. */
  pushed?: string[];
};

/** One run of a case. Only `work` is measured. */
type Trial = {
  work: () => Promise<void>;
  /** The number of received objects. */
  countObjects?: () => Promise<number>;
  /** Throws if the result is wrong; called once for each repository. */
  verify?: () => Promise<void>;
};

/** An operation of git's users. */
export type Case = {
  name: CaseName;
  /** Runs per requested run: short cases run more often. */
  repeat: number;
  /** Changes the repository before the first run. */
  setUp?: (side: Side) => Promise<void>;
  /** @param directory An empty directory that is removed after the run. */
  prepare: (side: Side, directory: string) => Promise<Trial>;
};

const CLONES_AT_ONCE = 10;
/** Pushes of a commit before `pushed-pack`. */
const PUSHES_BEFORE = 45;

const clone = (name: CaseName, repeat: number, ...options: string[]): Case => ({
  name,
  repeat,
  prepare: async ({ url }, directory) => ({
    work: async () => {
      await git(directory, ["clone", "--quiet", "--no-checkout", ...options, url, "clone"]);
    },
  }),
});

export const push: Case = {
  name: "push",
  repeat: 1,
  prepare: async (side) => {
    const { forge, source } = side;
    pushes += 1;
    side.name = `${source.size}-${pushes}`;
    side.url = await forge.create(side.name, source.branch);
    return {
      work: async () => {
        await git(source.path, [...forge.writeOptions, "push", "--quiet", "--mirror", side.url]);
      },
    };
  },
};
let pushes = 0;

/** All cases except `push`, which creates the repository for these, and `fork`. */
export const CASES: readonly Case[] = [
  {
    ...clone("clone", 1),
    prepare: async (side, directory) => ({
      ...(await clone("clone", 1).prepare(side, directory)),
      verify: () => verifyClone(side.source, join(directory, "clone")),
    }),
  },
  clone("depth-1", 3, "--depth=1"),
  clone("blob-none", 1, "--filter=blob:none"),
  {
    name: "ls-remote",
    repeat: 5,
    prepare: async ({ url }, directory) => ({
      work: async () => {
        await git(directory, ["ls-remote", url]);
      },
    }),
  },
  packsAtOnce("one-pack", 1),
  packsAtOnce("ten-packs", CLONES_AT_ONCE),
  {
    name: "fetch",
    repeat: 3,
    setUp: async ({ forge, source, url }) => {
      const ref = `refs/heads/${source.branch}`;
      await git(source.nextPath, [...forge.writeOptions, "push", "--quiet", url, ref]);
    },
    prepare: async ({ url, source }, directory) => {
      await git(directory, ["clone", "--quiet", "--bare", "--shared", source.path, "clone"]);
      const path = join(directory, "clone");
      // Received objects stay loose, so that they can be counted.
      const options = ["-c", "fetch.unpackLimit=1000000"];
      return {
        work: async () => {
          await git(path, [...options, "fetch", "--quiet", url, "+refs/heads/*:refs/heads/*"]);
        },
        countObjects: async () => Number.parseInt(await git(path, ["count-objects"]), 10),
      };
    },
  },
  {
    ...packsAtOnce("pushed-pack", 1),
    repeat: 3,
    setUp: pushOften,
  },
  packsAtOnce("pushed-packs", CLONES_AT_ONCE),
  {
    name: "push-commit",
    repeat: 5,
    prepare: async ({ forge, source, url }, directory) => {
      await git(directory, ["clone", "--quiet", "--bare", "--shared", source.path, "clone"]);
      const path = join(directory, "clone");
      commits += 1;
      const branch = `commit-${commits}`;
      await git(path, ["fast-import", "--quiet"], [await formatEdit(path, source, branch)]);
      const ref = `refs/heads/${branch}`;
      return {
        work: async () => {
          await git(path, [...forge.writeOptions, "push", "--quiet", url, ref]);
        },
      };
    },
  },
];
let commits = 0;

/** Pushes some branches of one commit each, one after the other, with their base thin. */
async function pushOften(side: Side): Promise<void> {
  const { forge, source, url } = side;
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-pushes-"));
  try {
    await git(directory, ["clone", "--quiet", "--bare", "--shared", source.path, "clone"]);
    const path = join(directory, "clone");
    for (let at = 0; at < PUSHES_BEFORE; at++) {
      commits += 1;
      const branch = `pushed-${commits}`;
      await git(path, ["fast-import", "--quiet"], [await formatEdit(path, source, branch)]);
      const ref = `refs/heads/${branch}`;
      await git(path, [...forge.writeOptions, "push", "--quiet", url, ref]);
    }
    side.pushed = (await listRefs(path)).filter((ref) => ref.includes(" refs/heads/pushed-"));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A new branch whose commit replaces a line of a file, another file for each branch. */
async function formatEdit(path: string, source: Source, branch: string): Promise<string> {
  const tip = await git(path, ["rev-parse", source.branch]);
  const files = (await git(path, ["ls-tree", "-r", "--name-only", tip])).split("\n");
  const file = files[(commits * 997) % files.length] ?? "";
  const text = (await git(path, ["show", `${tip}:${file}`])).replace(/.*/, branch);
  const who = "A <a@example.com> 1900000000 +0000";
  const head = `commit refs/heads/${branch}\ncommitter ${who}\ndata 4\nedit\nfrom ${tip}\n`;
  return `${head}M 100644 inline ${file}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
}

function packsAtOnce(name: CaseName, count: number): Case {
  return {
    name,
    repeat: 1,
    prepare: async ({ url, source, pushed = [] }) => {
      const wantOids = new Set(
        [...source.refs, ...pushed].map((ref) => ref.slice(0, ref.indexOf(" "))),
      );
      return {
        work: async () => {
          const drains = Array.from({ length: count }, () => drainPack(url, wantOids));
          const bytes = await Promise.all(drains);
          const least = Math.min(...bytes);
          // The sent pack may be smaller than the source's, but not by much.
          if (least < source.packBytes / 2) throw new Error(`${url} sent ${least} bytes only`);
        },
      };
    },
  };
}

async function verifyClone({ refs, branch, size }: Source, path: string): Promise<void> {
  await git(path, ["fsck", "--full"]);
  const cloned = (await listRefs(path))
    .filter((ref) => !ref.endsWith(" refs/remotes/origin/HEAD") && ref.includes(" refs/remotes/"))
    .map((ref) => ref.replace(" refs/remotes/origin/", " refs/heads/"));
  const tags = (await listRefs(path)).filter((ref) => ref.includes(" refs/tags/"));
  if ([...cloned, ...tags].toSorted().join("\n") === refs.toSorted().join("\n")) return;
  throw new Error(`a clone of ${size} (${branch}) has other refs than the pushed repository`);
}
