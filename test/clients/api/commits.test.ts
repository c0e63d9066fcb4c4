import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { admin, callApi, makeRepo, type Repo, serviceUrl } from "../support/forge.ts";
import { ENVIRONMENT, git, makeDirectory } from "../support/git.ts";

interface Commit {
  sha: string;
  commit: { message: string; author: { name: string; email: string; date: string } };
  parents: { sha: string }[];
  files: { filename: string; status: string }[];
  stats: { additions: number; deletions: number };
}

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Creates the history of a fixture with git, and pushes it to the service. */
async function publish(directory: string, fixture: string, ...args: string[]): Promise<Repo> {
  execFileSync("sh", [inProject(`test/git/fixtures/${fixture}.sh`), ...args], {
    cwd: directory,
    env: ENVIRONMENT,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const repo = await makeRepo();
  await git(directory, ["push", "--quiet", repo.ownUrl, "--all"]);
  await git(directory, ["push", "--quiet", repo.ownUrl, "--tags"]);
  return repo;
}

/** All pages of a list of commits, and the total that the service reports. */
async function listAll(repo: Repo, query: Record<string, string>) {
  const shas: string[] = [];
  for (let page = 1; ; page++) {
    const search = new URLSearchParams({ ...LIGHT, ...query, limit: "50", page: String(page) });
    const answer = await fetch(`${serviceUrl}/api/v1${repo.path}/commits?${search}`);
    if (answer.status === 404) return { shas, total: 0 };
    const body = (await answer.json()) as Commit[];
    shas.push(...body.map(({ sha }) => sha));
    if (answer.headers.get("X-HasMore") !== "true") {
      return { shas, total: Number(answer.headers.get("X-Total-Count")) };
    }
  }
}

/** Removes compressed data from a patch: git and the service compress differently. */
const withoutData = (mail: string): string =>
  mail.replaceAll(/^(?:literal|delta) \d+\n(?:[A-Za-z][^\n]+\n)*/gm, "data\n");

const LIGHT = { stat: "false", files: "false", verification: "false" };

describe.each([
  ["history", []],
  ["renames", []],
  ["random-history", ["4", "150"]],
  ["random-history", ["5", "150"]],
] as const)("of the %s %o", (fixture, args) => {
  let directory: string;
  let repo: Repo;
  let branches: string[];
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "edgeforge-client-"));
    repo = await publish(directory, fixture, ...args);
    const refs = await git(directory, ["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    branches = lines(refs);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it("commits are listed as git log lists them", async () => {
    for (const sha of branches.slice(-4)) {
      const theirs = lines(await git(directory, ["rev-list", sha]));
      expect(await listAll(repo, { sha })).toEqual({ shas: theirs, total: theirs.length });
      for (const not of branches.slice(-6)) {
        const range = lines(await git(directory, ["rev-list", sha, `^${not}`]));
        expect([sha, not, await listAll(repo, { sha, not })]).toEqual([
          sha,
          not,
          { shas: range, total: range.length },
        ]);
      }
    }
  });

  it("commits of a time range are those of git log", async () => {
    for (const sha of branches.slice(-3)) {
      const times = lines(await git(directory, ["log", "--format=%ct", sha])).map(Number);
      const sorted = times.toSorted((a, b) => a - b);
      for (const part of [0.2, 0.5, 0.9]) {
        const moment = sorted[Math.floor(sorted.length * part)] ?? 0;
        const text = new Date(moment * 1000).toISOString();
        for (const field of ["since", "until"]) {
          const theirs = lines(await git(directory, ["rev-list", `--${field}=${moment}`, sha]));
          expect([sha, field, await listAll(repo, { sha, [field]: text })]).toEqual([
            sha,
            field,
            { shas: theirs, total: theirs.length },
          ]);
        }
      }
    }
  });

  it("commits of a path are those of git log", async () => {
    for (const sha of branches.slice(-2)) {
      const listing = await git(directory, ["ls-tree", "-r", "-t", "-z", "--name-only", sha]);
      const paths = listing.split("\0").filter((path) => path !== "");
      for (const path of [...paths.slice(0, 12), "none"]) {
        const theirs = lines(await git(directory, ["rev-list", sha, "--", path]));
        expect([path, await listAll(repo, { sha, path })]).toEqual([
          path,
          { shas: theirs, total: theirs.length },
        ]);
        const [not = ""] = branches;
        const range = lines(await git(directory, ["rev-list", sha, `^${not}`, "--", path]));
        expect([path, not, await listAll(repo, { sha, path, not })]).toEqual([
          path,
          not,
          { shas: range, total: range.length },
        ]);
      }
    }
  });

  it("each commit has git's parents, message, files and line counts", async () => {
    const [sha = ""] = branches.slice(-1);
    const answer = await callApi<Commit[]>(
      admin,
      "GET",
      `${repo.path}/commits?sha=${sha}&limit=50`,
    );
    expect(answer.length).toBeGreaterThan(0);
    for (const commit of answer) {
      const format = "--format=%P%n%an%n%ae%n%aI%n%B";
      const text = await git(directory, ["show", "-s", format, commit.sha]);
      const { author, message } = commit.commit;
      const parents = commit.parents.map((parent) => parent.sha);
      const head = [parents.join(" "), author.name, author.email, author.date];
      expect([...head, message.trimEnd()].join("\n").replace(/Z$/m, "+00:00")).toBe(text.trimEnd());

      const first = parents[0] ?? "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
      const diff = (...options: string[]) =>
        git(directory, ["diff", "-z", ...options, first, commit.sha]);
      const names = (await diff("--name-status", "--no-renames")).split("\0");
      const files: { filename: string; status: string }[] = [];
      for (let at = 0; at + 1 < names.length; at += 2) {
        const status = { A: "added", D: "removed" }[names[at] ?? ""] ?? "modified";
        files.push({ filename: names[at + 1] ?? "", status });
      }
      expect([commit.sha, commit.files]).toEqual([commit.sha, files]);
      const short = await diff("--shortstat", "-M");
      expect([commit.sha, commit.stats]).toMatchObject([
        commit.sha,
        {
          additions: Number(/(\d+) insertion/.exec(short)?.[1] ?? 0),
          deletions: Number(/(\d+) deletion/.exec(short)?.[1] ?? 0),
        },
      ]);
    }
  });

  it("the diff of each commit is git's", async () => {
    const shas = lines(await git(directory, ["rev-list", "--all"])).slice(0, 40);
    for (const sha of shas) {
      const parent = await git(directory, [
        "rev-list",
        "--max-count=1",
        "--no-walk",
        "--parents",
        sha,
      ]);
      const [, first = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"] = parent.split(" ");
      const answer = await fetch(`${serviceUrl}/api/v1${repo.path}/git/commits/${sha}.diff`);
      const theirs = await git(directory, ["diff", "-M", first, sha]);
      expect([sha, (await answer.text()).replace(/\n$/, "")]).toEqual([sha, theirs]);
    }
  });

  it("the patch of each commit is git's, for a merge the patches of the merged commits", async () => {
    const all = lines(await git(directory, ["rev-list", "--all", "--parents"]));
    const merges = all.filter((line) => line.length > 82).slice(0, 6);
    const others = all.filter((line) => line.length <= 82).slice(0, 25);
    const mail = ["format-patch", "--stdout", "--signature=Edgeforge"];
    for (const line of [...others, ...merges]) {
      const [sha = "", parent, other] = line.split(" ");
      const answer = await fetch(`${serviceUrl}/api/v1${repo.path}/git/commits/${sha}.patch`);
      const range = other === undefined ? ["-1", sha] : [`${parent}..${sha}`];
      const theirs = await git(directory, [...mail, ...range]);
      expect([sha, withoutData((await answer.text()).replace(/\n$/, ""))]).toEqual([
        sha,
        withoutData(theirs),
      ]);
    }
  });

  it("a comparison is git's: commits, both counts, the merge base and the lines of files", async () => {
    for (const base of branches.slice(-4)) {
      for (const head of branches.slice(-4)) {
        const run = (...gitArgs: string[]) => git(directory, gitArgs);
        const theirs = lines(await run("rev-list", `${base}..${head}`));
        const [behind, ahead] = (
          await run("rev-list", "--left-right", "--count", `${base}...${head}`)
        ).split("\t");
        const bases = await run("merge-base", base, head).catch(() => "");
        for (const dots of ["...", ".."]) {
          // Unlike git, a comparison with the missing merge base of unrelated histories lists no
          // commits.
          const listed = bases === "" && dots === "..." ? [] : theirs;
          const query = new URLSearchParams({ ...LIGHT, files: "true" });
          const ours = await callApi<Compare>(
            admin,
            "GET",
            `${repo.path}/compare/${base}${dots}${head}?${query}`,
          );
          const from = dots === ".." ? base : bases || EMPTY_TREE;
          expect([base, dots, head, summarize(ours)]).toEqual([
            base,
            dots,
            head,
            {
              total: listed.length,
              commits: listed,
              ahead: Number(ahead),
              behind: Number(behind),
              base: bases || undefined,
              files: readNumstat(await run("diff", "--numstat", "-z", "-M", from, head)),
            },
          ]);
        }
      }
    }
  });
});

interface Compare {
  total_commits: number;
  commits: Commit[];
  ahead_by: number;
  behind_by: number;
  merge_base_commit: Commit | null;
  files: { filename: string; previous_filename?: string; additions: number; deletions: number }[];
}

const summarize = (compare: Compare) => ({
  total: compare.total_commits,
  commits: compare.commits.map(({ sha }) => sha),
  ahead: compare.ahead_by,
  behind: compare.behind_by,
  base: compare.merge_base_commit?.sha,
  files: compare.files.map(({ additions, deletions, filename, previous_filename }) => ({
    additions,
    deletions,
    filename,
    previous_filename,
  })),
});

/** Parses the output of `git diff --numstat -z`; for a rename, both paths follow the counts. */
function readNumstat(text: string) {
  const files = [];
  const parts = text.split("\0");
  for (let at = 0; at + 1 < parts.length; at++) {
    const [added = "", removed = "", name = ""] = (parts[at] ?? "").split("\t");
    const counts = { additions: Number(added) || 0, deletions: Number(removed) || 0 };
    if (name !== "") files.push({ ...counts, filename: name, previous_filename: undefined });
    else files.push({ ...counts, filename: parts[at + 2] ?? "", previous_filename: parts[++at] });
    if (name === "") at++;
  }
  return files;
}

describe("a note", () => {
  it("is the one that git notes shows, among any number of notes", async () => {
    const directory = makeDirectory();
    const repo = await publish(directory, "random-history", "6", "30");
    const commits = lines(await git(directory, ["rev-list", "--all"])).slice(0, 8);
    // Enough notes for git to split their names into directories.
    const notes = Array.from({ length: 600 }, (_, at) => {
      const oid = ((at * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, "0").repeat(5);
      return `M 100644 inline ${oid}\ndata 5\nnote\n\n`;
    });
    const head = "commit refs/notes/commits\ncommitter A <a@b> 1700000000 +0000\ndata 0\n";
    await git(directory, ["fast-import", "--quiet"], head + notes.join(""));
    for (const [at, oid] of commits.entries()) {
      await git(directory, ["notes", "add", "-m", `note ${at} ✓`, oid]);
    }
    const names = await git(directory, ["ls-tree", "-r", "--name-only", "refs/notes/commits"]);
    expect(lines(names).every((name) => /^..\/.{38}$/.test(name))).toBe(true);
    await git(directory, ["push", "--quiet", repo.ownUrl, "refs/notes/commits"]);
    for (const sha of commits) {
      const path = `${repo.path}/git/notes/${sha}`;
      const note = await callApi<{ message: string; commit: Commit }>(admin, "GET", path);
      expect(note.message.trimEnd()).toBe(await git(directory, ["notes", "show", sha]));
      const file = `${sha.slice(0, 2)}/${sha.slice(2)}`;
      const log = ["log", "-1", "--format=%H", "refs/notes/commits", "--", file];
      expect(note.commit.sha).toBe(await git(directory, log));
    }
  });
});
