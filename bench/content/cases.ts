import { git } from "../git/git.ts";
import type { Request } from "./forge.ts";

/** A query of clients, and the equivalent git commands. */
export type Case = {
  name: string;
  /** Prepares a run; not measured. Run 0 is the one with empty caches. */
  prepare?: (run: number) => Promise<void>;
  /** Sequential requests; different ones in each run if they change the repository. */
  requests: (run: number) => Request[];
  /** The commands, run sequentially in the bare repository, each in its own process. */
  commands: (run: number) => Command[];
  /** The share of the requested runs that is measured: 1, or less for slow cases. */
  share?: number;
};

export type Command = { args: string[]; input?: string };

/** The objects in the pushed repository that the cases use. */
export type Samples = {
  branch: string;
  /** The most deeply nested of the early files. */
  oldFile: string;
  /** The branch with the most distant merge base with the default branch. */
  distantBranch: string;
  /**
   * A commit of the default branch with many later commits, but not too many files changed since.
   */
  earlier: string;
  entries: number;
  commits: number;
};

/** Finds the objects that the cases need. */
export async function findSamples(path: string, branch: string): Promise<Samples> {
  const list = async (...args: string[]): Promise<string[]> => (await git(path, args)).split("\n");
  const commits = Number(await git(path, ["rev-list", "--count", branch]));
  const [early = ""] = await list("rev-list", "--max-count=1", `--skip=${commits - 100}`, branch);
  const now = new Set(await list("ls-tree", "-r", "--name-only", branch));
  const old = (await list("ls-tree", "-r", "--name-only", early)).filter((name) => now.has(name));
  const depth = (name: string): number => name.split("/").length;
  const [oldFile = ""] = old.toSorted((a, b) => depth(b) - depth(a) || (a < b ? -1 : 1));
  let distantBranch = branch;
  let farthest = -1;
  for (const name of await list("for-each-ref", "--format=%(refname:short)", "refs/heads")) {
    const behind = Number(await git(path, ["rev-list", "--count", `${name}..${branch}`]));
    if (behind <= farthest) continue;
    farthest = behind;
    distantBranch = name;
  }
  const [earlier = ""] = await list("rev-parse", `${branch}~${Math.min(1000, commits >> 3)}`);
  const entries = (await list("ls-tree", "-r", "-t", "--name-only", branch)).length;
  return { branch, oldFile, distantBranch, earlier, entries, commits };
}

const LIGHT = "stat=false&files=false&verification=false";
const PAGE = 50;
/** Entries on a page of a tree. */
const TREE_PAGE = 1000;

export const command = (...args: string[]): Command => ({ args });

/**
 * For light lists, git prints stored data only; for full lists, also the line counts of each file.
 */
export function casesOf({
  branch,
  oldFile,
  distantBranch,
  earlier,
  entries,
  commits,
}: Samples): Case[] {
  const deepPage = Math.min(200, Math.floor(commits / PAGE));
  const read = (name: string, path: string, ...commands: Command[]): Case => ({
    name,
    requests: () => [{ path }],
    commands: () => commands,
  });
  const log = (...args: string[]): Command => command("log", "--format=raw", ...args);
  const deepPath = `limit=${PAGE}&page=${deepPage}`;
  const deepLog = [`--max-count=${PAGE}`, `--skip=${(deepPage - 1) * PAGE}`];
  const count = command("rev-list", "--count", branch);
  const compare = (name: string, base: string): Case =>
    read(
      name,
      `/compare/${base}...${branch}?limit=30`,
      command("rev-list", "--left-right", "--count", `${base}...${branch}`),
      command("merge-base", base, branch),
      command("diff", "--numstat", "-M", `${base}...${branch}`),
      log("-30", "--numstat", "-M", `${base}..${branch}`),
    );
  const pages = Array.from({ length: Math.ceil(entries / TREE_PAGE) }, (_, at) => at + 1);
  return [
    read("commits, page 1", "/commits?limit=30", log("-30", "--numstat", "-M", branch), count),
    read(
      "commits, page 1, light",
      `/commits?limit=${PAGE}&${LIGHT}`,
      log(`-${PAGE}`, branch),
      count,
    ),
    read(
      `commits, page ${deepPage}, light`,
      `/commits?${deepPath}&${LIGHT}`,
      log(...deepLog, branch),
      count,
    ),
    read("path history", `/commits?path=${oldFile}&${LIGHT}`, log(branch, "--", oldFile)),
    read(
      "tree, first page",
      "/git/trees/HEAD?recursive=1",
      command("ls-tree", "-r", "-t", "-l", branch),
    ),
    {
      name: "tree, all pages",
      requests: () => pages.map((page) => ({ path: `/git/trees/HEAD?recursive=1&page=${page}` })),
      commands: () => [command("ls-tree", "-r", "-t", "-l", branch)],
    },
    read(
      "file",
      `/contents/${oldFile}`,
      command("cat-file", "blob", `${branch}:${oldFile}`),
      log("-1", branch, "--", oldFile),
    ),
    read("file, raw", `/raw/${oldFile}`, command("cat-file", "blob", `${branch}:${oldFile}`)),
    compare("compare, distant", distantBranch),
    compare("compare, 1,000 commits", earlier),
    {
      name: "create a file",
      requests: (run) => [
        {
          method: "POST",
          path: `/contents/made/by-bench-${run}.txt`,
          json: {
            content: Buffer.from(`made ${run}\n`).toString("base64"),
            message: "Make a file",
          },
          status: 201,
        },
      ],
      commands: (run) => [
        { args: ["fast-import", "--quiet", "--done"], input: createFile(branch, run) },
      ],
    },
    {
      name: "archive",
      requests: () => [{ path: `/archive/${branch}.tar.gz` }],
      commands: () => [command("archive", "--format=tar.gz", "--output=/dev/null", branch)],
      share: 0.4,
    },
  ];
}

function createFile(branch: string, run: number): string {
  const message = "Make a file\n";
  const text = `made ${run}\n`;
  return [
    `commit refs/heads/${branch}\n`,
    "committer C O Mitter <committer@example.com> 1700000000 +0000\n",
    `data ${message.length}\n${message}`,
    `from refs/heads/${branch}^0\n`,
    `M 100644 inline made/by-bench-${run}.txt\n`,
    `data ${text.length}\n${text}\n`,
    "done\n",
  ].join("");
}
