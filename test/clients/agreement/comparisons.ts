import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";

import { EMPTY_TREE_OID } from "../../../src/git/oid.ts";
import type { Source } from "./source.ts";

/** The result of one kind of comparison. */
export interface Differences {
  count: number;
  readonly all: string[];
}

interface Comparing {
  readonly source: Source;
  /** URL of the repository in the API. */
  readonly url: string;
  /** Number of samples of each kind. */
  readonly samples: number;
  readonly differences: Differences;
}

const LIGHT = "stat=false&files=false&verification=false";
const PAGE_SIZE = 50;

async function read(url: string): Promise<unknown> {
  return JSON.parse((await readBytes(url)).toString());
}

async function readBytes(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return Buffer.from(await answer.arrayBuffer());
}

function note({ differences }: Comparing, what: string, ours: unknown, theirs: unknown): void {
  differences.count++;
  if (isDeepStrictEqual(ours, theirs)) return;
  const [mine = "", git = ""] = [ours, theirs].map(describeValue);
  let at = 0;
  while (at < mine.length && mine[at] === git[at]) at++;
  const part = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 60), at + 100));
  differences.all.push(`${what}: from ${at}: ours ${part(mine)} git's ${part(git)}`);
}

const describeValue = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : JSON.stringify(value);

type CommitList = { sha: string }[];
const shasOf = (list: CommitList): string[] => list.map(({ sha }) => sha);

/** Compares a list of commits: its first page, its last page, and its total. */
async function compareList(comparing: Comparing, query: string, revisions: string[]) {
  const { source, url } = comparing;
  const theirs = await source.lines("rev-list", ...revisions);
  const last = Math.max(1, Math.ceil(theirs.length / PAGE_SIZE));
  for (const page of new Set([1, last])) {
    const list = `${url}/commits?${LIGHT}&limit=${PAGE_SIZE}&${query}`;
    const expected = theirs.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const answer = await fetch(`${list}&page=${page}`);
    const ours = answer.status === 404 ? [] : shasOf((await answer.json()) as CommitList);
    const total = Number(answer.headers.get("X-Total-Count"));
    note(comparing, `${query} page ${page}`, [ours, total], [expected, theirs.length]);
  }
}

async function samplePaths(source: Source, sha: string, count: number): Promise<string[]> {
  const listing = (await source.git("ls-tree", "-r", "-t", "-z", "--name-only", sha)).toString();
  const paths = listing.split("\0").filter((path) => path !== "" && !path.includes("\ufffd"));
  return source.sample(paths, count);
}

const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

async function firstParent(source: Source, sha: string): Promise<string> {
  const [line = ""] = await source.lines("rev-list", "--no-walk", "--parents", sha);
  return line.split(" ")[1] ?? EMPTY_TREE_OID;
}

/** Each function compares one kind of response with git's output. */
export const COMPARISONS: Record<string, (comparing: Comparing) => Promise<void>> = {
  log: async (comparing) => {
    const { source, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      await compareList(comparing, `sha=${sha}`, [sha]);
    }
  },

  range: async (comparing) => {
    const { source, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      const [not = ""] = source.sample(source.commits, 1);
      await compareList(comparing, `sha=${sha}&not=${not}`, [sha, `^${not}`]);
    }
  },

  "path history": async (comparing) => {
    const { source, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      for (const path of await samplePaths(source, sha, 3)) {
        const query = `sha=${sha}&path=${encodeURIComponent(path)}`;
        await compareList(comparing, query, [sha, "--", path]);
      }
    }
  },

  "path range": async (comparing) => {
    const { source, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      const [not = ""] = source.sample(source.commits, 1);
      for (const path of await samplePaths(source, sha, 2)) {
        const query = `sha=${sha}&not=${not}&path=${encodeURIComponent(path)}`;
        await compareList(comparing, query, [sha, `^${not}`, "--", path]);
      }
    }
  },

  commit: async (comparing) => {
    const { source, url, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      const body = (await read(`${url}/git/commits/${sha}`)) as {
        commit: { author: { date: string }; committer: { date: string }; tree: { sha: string } };
        parents: CommitList;
        stats: { additions: number; deletions: number };
      };
      const format = "--format=%T%n%P%n%aI%n%cI";
      const [tree, ...rest] = (await source.git("show", "-s", format, sha)).toString().split("\n");
      const [parents = "", ...dates] = rest;
      const short = await source.lines(
        "diff",
        "--shortstat",
        "-M",
        await firstParent(source, sha),
        sha,
      );
      const countOf = (pattern: RegExp): number => Number(pattern.exec(short[0] ?? "")?.[1] ?? 0);
      const ours = [
        body.commit.tree.sha,
        shasOf(body.parents).join(" "),
        [body.commit.author.date, body.commit.committer.date].map((date) => Date.parse(date)),
        [body.stats.additions, body.stats.deletions],
      ];
      const theirs = [
        tree,
        parents,
        dates.slice(0, 2).map((date) => Date.parse(date)),
        [countOf(/(\d+) insertion/), countOf(/(\d+) deletion/)],
      ];
      note(comparing, sha, ours, theirs);
    }
  },

  diff: async (comparing) => {
    const { source, url, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      const parent = await firstParent(source, sha);
      const theirs = await source.git("diff", "-M", parent, sha);
      note(comparing, sha, await readBytes(`${url}/git/commits/${sha}.diff`), theirs);
    }
  },

  patch: async (comparing) => {
    const { source, url, samples } = comparing;
    const single = await source.lines("rev-list", "--no-merges", "--branches", "--tags");
    for (const sha of source.sample(single, samples)) {
      const theirs = await source.git("format-patch", "--stdout", "-1", sha);
      const ours = await readBytes(`${url}/git/commits/${sha}.patch`);
      note(comparing, sha, withoutNoise(ours), withoutNoise(theirs));
    }
  },

  compare: async (comparing) => {
    const { source, url, samples } = comparing;
    for (const head of source.sample(source.commits, samples)) {
      const [base = ""] = source.sample(source.commits, 1);
      const body = (await read(
        `${url}/compare/${base}...${head}?stat=false&verification=false&limit=${PAGE_SIZE}`,
      )) as {
        total_commits: number;
        ahead_by: number;
        behind_by: number;
        commits: CommitList;
        files: { filename: string; additions: number; deletions: number }[];
      };
      const ahead = await source.lines("rev-list", `${base}..${head}`);
      const behind = await source.lines("rev-list", "--count", `${head}..${base}`);
      const bases = await source.lines("merge-base", "--all", base, head).catch(() => []);
      // Unlike git, a comparison of unrelated histories lists no commits.
      const listed = bases.length === 0 ? [] : ahead.slice(0, PAGE_SIZE);
      const theirs = [ahead.length, Number(behind[0]), listed];
      const ours = [body.ahead_by, body.behind_by, shasOf(body.commits).slice(0, PAGE_SIZE)];
      note(comparing, `${base}...${head}`, ours, theirs);
      if (bases.length !== 1) continue;
      const stat = await source.git("diff", "--numstat", "-M", "-z", `${base}...${head}`);
      note(
        comparing,
        `files of ${base}...${head}`,
        body.files.map(({ additions, deletions }) => [additions, deletions]),
        readNumstat(stat.toString()).slice(0, body.files.length),
      );
    }
  },

  tree: async (comparing) => {
    const { source, url, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      const listing = (await source.git("ls-tree", "-r", "-t", "-z", sha)).toString();
      const theirs = listing.split("\0").filter((line) => line !== "");
      const ours: string[] = [];
      for (let page = 1; ours.length < theirs.length; page++) {
        const query = `recursive=1&per_page=1000&page=${page}`;
        type Entry = { mode: string; type: string; sha: string; path: string };
        const body = (await read(`${url}/git/trees/${sha}?${query}`)) as { tree: Entry[] };
        if (body.tree.length === 0) break;
        ours.push(
          ...body.tree.map((entry) => `${entry.mode} ${entry.type} ${entry.sha}\t${entry.path}`),
        );
      }
      note(comparing, sha, ours, theirs);
    }
  },

  "last commits": async (comparing) => {
    const { source, url, samples } = comparing;
    for (const sha of source.sample(source.commits, Math.ceil(samples / 4))) {
      type Entry = { path: string; last_commit_sha: string };
      const body = (await read(`${url}/contents?ref=${sha}`)) as Entry[];
      for (const { path, last_commit_sha: ours } of body) {
        const [theirs] = await source.lines("rev-list", "--max-count=1", sha, "--", path);
        note(comparing, `${sha} ${path}`, ours, theirs);
      }
    }
  },

  file: async (comparing) => {
    const { source, url, samples } = comparing;
    for (const sha of source.sample(source.commits, samples)) {
      for (const path of await samplePaths(source, sha, 4)) {
        const answer = await fetch(`${url}/raw/${encodePath(path)}?ref=${sha}`);
        const kind = (await source.lines("cat-file", "-t", `${sha}:${path}`).catch(() => []))[0];
        const ours = answer.ok ? Buffer.from(await answer.arrayBuffer()) : answer.status;
        const theirs =
          kind === "blob" ? await source.git("cat-file", "blob", `${sha}:${path}`) : 404;
        note(comparing, `${sha}:${path}`, ours, theirs);
      }
    }
  },

  archive: async (comparing) => {
    const { source, url, samples } = comparing;
    for (const sha of source.sample(source.commits, Math.ceil(samples / 4))) {
      const theirs = await source.git("archive", "--format=tar", "--prefix=sample/", sha);
      const ours = gunzipSync(await readBytes(`${url}/archive/${sha}.tar.gz`));
      note(comparing, sha, ours, theirs);
    }
  },
};

/**
 * A patch without the version of the program that created it, and without compressed binary
 * contents.
 */
function withoutNoise(patch: Buffer): string {
  const text = patch.toString("latin1");
  const end = text.lastIndexOf("\n-- \n");
  return text
    .slice(0, end < 0 ? text.length : end)
    .replaceAll(/^(?:literal|delta) \d+\n(?:[A-Za-z].+\n)*/gm, "data\n");
}

/** Added and deleted lines of each file, 0 for a binary file. */
function readNumstat(text: string): [number, number][] {
  const stats: [number, number][] = [];
  const fields = text.split("\0");
  for (let at = 0; at + 1 < fields.length; at++) {
    const [added = "", deleted = "", path = ""] = (fields[at] ?? "").split("\t");
    stats.push([Number(added) || 0, Number(deleted) || 0]);
    // For a rename, both paths follow.
    if (path === "") at += 2;
  }
  return stats;
}
