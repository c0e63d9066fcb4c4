import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { makeRandom } from "../../git/support/random.ts";
import { makeRepo, serviceUrl } from "../support/forge.ts";
import { ENVIRONMENT, git, makeWork } from "../support/git.ts";

interface Entry {
  path: string;
  mode: string;
  type: string;
  sha: string;
  size: number;
}
interface Tree {
  tree: Entry[];
  truncated: boolean;
}

const random = makeRandom(7);

const NAMES = ["a", "a-b", "a.b", "a b", "a+b", "grüße", "日本", "%41", "Ärger.txt", "#1?", "z&z"];

/** File contents of various kinds: random, some large, some similar to each other. */
function makeContent(): Buffer {
  const size = random.below(20) === 0 ? 700_000 + random.below(100_000) : random.below(3000);
  const content = Buffer.alloc(size);
  for (let at = 0; at < size; at++) content[at] = random.below(256);
  return content;
}

/** Commits that add, change and remove files at random paths. */
async function makeHistory(): Promise<string> {
  const work = await makeWork();
  for (let commit = 0; commit < 6; commit++) {
    for (let change = 0; change < 20; change++) {
      const depth = 1 + random.below(4);
      const names = Array.from({ length: depth }, () => NAMES[random.below(NAMES.length)] ?? "");
      const path = join(work, ...names.map((name, at) => (at < depth - 1 ? `${name}.d` : name)));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, makeContent());
      if (random.below(4) === 0) chmodSync(path, 0o755);
    }
    if (commit === 2) symlinkSync("../a", join(work, "link"));
    await git(work, ["add", "--all"]);
    await git(work, ["commit", "--quiet", "-m", `commit ${commit}`]);
  }
  return work;
}

const lsTree = async (work: string, ...args: string[]): Promise<string[]> =>
  (await git(work, ["ls-tree", "-z", "-l", ...args]))
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => line.replaceAll(/ +/g, " ").replace(/ -\t/, " 0\t"));

const toLine = ({ mode, type, sha, size, path }: Entry): string =>
  `${mode} ${type} ${sha} ${size}\t${path}`;

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** Reads anonymously: verifying a password would take longer than the response. */
async function read<T>(path: string): Promise<T> {
  const response = await fetch(`${serviceUrl}/api/v1${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as T;
}

describe("contents through the API are git's", () => {
  it("in trees, blobs, files and directories of a random history", async () => {
    const repo = await makeRepo();
    const work = await makeHistory();
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);

    const flat = await read<Tree>(`${repo.path}/git/trees/main`);
    expect(flat.tree.map(toLine)).toEqual(await lsTree(work, "main"));

    const theirs = await lsTree(work, "-r", "-t", "main");
    const ours: Entry[] = [];
    for (let page = 1, isMore = true; isMore; page++) {
      const query = `?recursive=1&per_page=17&page=${page}`;
      const { tree, truncated } = await read<Tree>(`${repo.path}/git/trees/main${query}`);
      ours.push(...tree);
      isMore = truncated;
    }
    expect(ours.map(toLine)).toEqual(theirs);

    const sample = ours.filter(() => random.below(6) === 0);
    for (const { path } of sample.filter(({ type }) => type === "tree")) {
      const listed = await read<Record<string, unknown>[]>(
        `${repo.path}/contents/${encoded(path)}`,
      );
      const names = (await lsTree(work, `main:${path}`)).map((line) => line.split("\t")[1]);
      expect(listed.map((each) => each["name"])).toEqual(names);
    }
    for (const { path, mode, sha, size } of sample.filter(({ type }) => type === "blob")) {
      const last = await git(work, ["log", "-1", "--format=%H", "main", "--", `:(literal)${path}`]);
      const content = spawnSync("git", ["cat-file", "blob", sha], {
        cwd: work,
        env: ENVIRONMENT,
        maxBuffer: 1 << 28,
      }).stdout;
      const base64 = content.toString("base64");
      const blob = await read<Record<string, unknown>>(`${repo.path}/git/blobs/${sha}`);
      expect(blob).toMatchObject({ sha, size, content: base64 });
      const file = await read<Record<string, unknown>>(`${repo.path}/contents/${encoded(path)}`);
      const isLink = mode === "120000";
      expect(file).toMatchObject({
        path,
        sha,
        size,
        last_commit_sha: last,
        content: isLink ? null : base64,
        target: isLink ? content.toString() : null,
      });
      const raw = await fetch(`${serviceUrl}/api/v1${repo.path}/raw/${encoded(path)}?ref=main`);
      expect(raw.headers.get("Content-Length")).toBe(String(size));
      expect(Buffer.from(await raw.arrayBuffer()).equals(content)).toBe(true);
    }
  });
});
