import { rmSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { branchPairs } from "../support/branch-pairs.ts";
import { importRepository } from "../support/fast-import.ts";
import { admin, callApi, makeRepo, type Repo, serviceUrl } from "../support/forge.ts";
import { git, tryGit } from "../support/git.ts";

const PAIRS = 80;

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Removes compressed data from a patch: git and the service compress differently. */
const withoutData = (patch: string): string =>
  patch.replaceAll(/^(?:literal|delta) \d+\n(?:[A-Za-z][^\n]+\n)*/gm, "data\n");

async function fetchText(path: string): Promise<string> {
  const answer = await fetch(`${serviceUrl}/api/v1${path}`);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
  return answer.text();
}

/** All pages of a list. */
async function fetchAll<T>(path: string, query = ""): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; ; page++) {
    const answer = await fetch(`${serviceUrl}/api/v1${path}?limit=50&page=${page}&${query}`);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    items.push(...((await answer.json()) as T[]));
    if (answer.headers.get("X-HasMore") === "true") continue;
    expect(answer.headers.get("X-Total-Count")).toBe(String(items.length));
    return items;
  }
}

/** What `git diff --numstat -z` says of each file: its path and counts, 0 for binary files. */
function parseNumstat(text: string): [path: string, added: number, removed: number][] {
  const files: [string, number, number][] = [];
  const fields = text.split("\0");
  for (let at = 0; at + 1 < fields.length; at++) {
    const [added = "", removed = "", path = ""] = (fields[at] ?? "").split("\t");
    // A renamed file has both of its paths in fields of their own.
    if (path === "") at += 2;
    files.push([path || (fields[at] ?? ""), Number(added) || 0, Number(removed) || 0]);
  }
  return files;
}

const WHITESPACE = {
  "show-all": [],
  "ignore-all": ["-w"],
  "ignore-change": ["-b"],
  "ignore-eol": ["--ignore-space-at-eol"],
} as const;

describe("the changes of pull requests of generated branches", () => {
  it("are those of git", { timeout: 600_000 }, async () => {
    const directory = await importRepository(branchPairs(15, PAIRS));
    const repo = await makeRepo();
    await git(directory, ["push", "--quiet", repo.ownUrl, "--all"]);
    const seen = {
      merges: 0,
      crossed: 0,
      renames: 0,
      binary: 0,
      modes: 0,
      submodules: 0,
      spaces: 0,
    };
    for (let number = 1; number <= PAIRS; number++) {
      const [base, head] = [`base-${number}`, `head-${number}`];
      const pull = await openPull(repo, base, head);
      const range = `${base}...${head}`;
      const diff = (...options: readonly string[]) =>
        git(directory, ["diff", "-M", ...options, range]);

      const text = await diff();
      expect([number, (await fetchText(`${pull}.diff`)).replace(/\n$/, "")]).toEqual([
        number,
        text,
      ]);
      const encoded = await fetchText(`${pull}.diff?binary=true`);
      expect([number, withoutData(encoded)]).toEqual([
        number,
        withoutData(`${await diff("--binary")}${encoded === "" ? "" : "\n"}`),
      ]);
      expect(await applyTo(directory, base, head, encoded)).toBe(
        await git(directory, ["rev-parse", `${head}^{tree}`]),
      );

      for (const [whitespace, options] of Object.entries(WHITESPACE)) {
        const files = await fetchAll<ChangedFile>(`${pull}/files`, `whitespace=${whitespace}`);
        const counted = files.map((file) => [file.filename, file.additions, file.deletions]);
        const theirs = parseNumstat(await diff("--numstat", "-z", ...options));
        expect([number, whitespace, counted]).toEqual([number, whitespace, theirs]);
        if (whitespace === "ignore-all" && theirs.length < lines(await diff("--raw")).length) {
          seen.spaces++;
        }
      }

      const own = `${base}..${head}`;
      const commits = await fetchAll<{ sha: string }>(`${pull}/commits`, "files=false");
      expect([number, commits.map(({ sha }) => sha)]).toEqual([
        number,
        lines(await git(directory, ["rev-list", own])),
      ]);
      const mail = ["format-patch", "--stdout", "--signature=Edgeforge", own];
      expect([number, withoutData((await fetchText(`${pull}.patch`)).replace(/\n$/, ""))]).toEqual([
        number,
        withoutData(await git(directory, mail)),
      ]);

      const bases = lines(await git(directory, ["merge-base", "--all", base, head]));
      if (bases.length > 1) seen.crossed++;
      if (lines(await git(directory, ["rev-list", "--merges", own])).length > 0) seen.merges++;
      if (text.includes("\nrename to ")) seen.renames++;
      if (text.includes("\nBinary files ")) seen.binary++;
      if (text.includes("\nnew mode ")) seen.modes++;
      if (text.includes("\n+Subproject commit ")) seen.submodules++;
    }
    // The histories contain what they are meant to.
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(4);
  });
});

interface ChangedFile {
  filename: string;
  additions: number;
  deletions: number;
}

/** Opens a pull request and returns its path. */
async function openPull(repo: Repo, base: string, head: string): Promise<string> {
  const json = { title: head, base, head };
  const { number } = await callApi<{ number: number }>(admin, "POST", `${repo.path}/pulls`, json);
  return `${repo.path}/pulls/${number}`;
}

/** Applies a patch to the merge base with git, in an index of its own, and returns the tree. */
async function applyTo(
  directory: string,
  base: string,
  head: string,
  patch: string,
): Promise<string> {
  const index = join(directory, "applied-index");
  const env = { GIT_INDEX_FILE: index };
  const run = async (args: readonly string[], input = ""): Promise<string> => {
    const { code, output, stdout } = await tryGit(directory, args, input, env);
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${output}`);
    return stdout.trim();
  };
  // The merge base that `git diff base...head` chooses.
  const [mergeBase = ""] = lines(await git(directory, ["merge-base", base, head]));
  await run(["read-tree", mergeBase]);
  if (patch !== "") await run(["apply", "--cached", "--whitespace=nowarn"], patch);
  const treeOid = await run(["write-tree"]);
  rmSync(index);
  return treeOid;
}
