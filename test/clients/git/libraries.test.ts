import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { admin, makeRepo } from "../support/forge.ts";
import { commit, git, listRemote, makeDirectory, makeWork } from "../support/git.ts";
import { hasProgram, runProgram } from "../support/run-program.ts";

const here = (name: string): string => fileURLToPath(new URL(`libraries/${name}`, import.meta.url));
const cached = (name: string): string => resolve("node_modules/.cache", name);
const hasModule = (name: string): boolean =>
  spawnSync("python3", ["-c", `import ${name}`]).status === 0;

/** A program that uses a library, and what it can do. */
interface Library {
  readonly name: string;
  readonly isInstalled: boolean;
  readonly command: readonly [string, ...string[]];
  /** Whether it clones without files. */
  readonly hasFilter: boolean;
  /** What it reports of a push of two refs of which one is refused. */
  readonly refused: readonly string[];
}

const PULL = "refs/pull/1/head";
const BESIDE = "refs/heads/beside";
const JGIT = cached("jgit");
const NPM = cached("npm-git");
const GO_GIT = cached("bin/go-git-client");

const LIBRARIES: readonly Library[] = [
  {
    name: "libgit2",
    isInstalled: hasModule("pygit2"),
    command: ["python3", here("pygit2_client.py")],
    hasFilter: false,
    refused: [PULL],
  },
  {
    name: "dulwich",
    isInstalled: hasModule("dulwich"),
    command: ["python3", here("dulwich_client.py")],
    hasFilter: true,
    refused: [BESIDE, PULL],
  },
  {
    name: "isomorphic-git",
    isInstalled: existsSync(NPM),
    command: [process.execPath, here("isomorphic-git-client.mjs"), NPM],
    hasFilter: false,
    refused: [PULL],
  },
  {
    name: "go-git",
    isInstalled: existsSync(GO_GIT),
    command: [GO_GIT],
    hasFilter: true,
    refused: ["atomic"],
  },
  {
    name: "JGit",
    isInstalled: existsSync(JGIT) && hasProgram("java"),
    command: ["java", "-cp", `${JGIT}/*`, here("JGitClient.java")],
    hasFilter: true,
    refused: [BESIDE, PULL],
  },
];

for (const { name, isInstalled, command, hasFilter, refused } of LIBRARIES) {
  if (!isInstalled) console.log(`no ${name}: its test is skipped`);

  it.skipIf(!isInstalled)(
    `${name} clones, deepens, pushes branches and tags, forces, deletes and is refused`,
    async () => {
      const repo = await makeRepo();
      const work = await makeWork();
      for (let at = 1; at < 6; at++) await commit(work, { "file.txt": `${at}\n` });
      const head = await commit(work, { "file.txt": "last\n" });
      const parent = await git(work, ["rev-parse", "HEAD~1"]);
      await git(work, ["tag", "-a", "-m", "one", "v1"]);
      const branches = ["main", "main:old", "main:gone"];
      await git(work, ["push", "--quiet", repo.ownUrl, ...branches, "v1"]);

      const [program, ...args] = command;
      const directory = makeDirectory();
      const credentials = [admin.name, admin.password];
      const output = await runProgram(program, [...args, repo.url, ...credentials, directory], {
        directory,
      });

      expect(JSON.parse(output)).toEqual({
        commits: 6,
        depths: [1, 3, 6],
        refused,
        ...(hasFilter && { blobs: 0 }),
      });
      const refs = new Map(
        (await listRemote(repo.url)).map((line) => {
          const [oid = "", ref = ""] = line.split("\t");
          return [ref, oid];
        }),
      );
      expect(refs.get("refs/heads/new")).toBe(head);
      expect(refs.get("refs/heads/old")).toBe(parent);
      expect(refs.get("refs/tags/made^{}")).toBe(head);
      expect(refs.has("refs/heads/gone")).toBe(false);
      // Only a library that can't push all or nothing leaves the other ref of a refused push.
      expect(refs.has(BESIDE)).toBe(name === "libgit2");
      expect([...refs.keys()].filter((ref) => ref.startsWith("refs/pull/"))).toEqual([]);
    },
  );
}
