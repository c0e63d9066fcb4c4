import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CommitMerge, mergeCommits } from "../../../src/git/merge/merge-commits.ts";
import type { MergeOptions } from "../../../src/git/merge/merge-commits.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import type { StoredObject } from "../../../src/git/store.ts";
import { git, makeRepository } from "../support/git.ts";
import { openHistory, type StoredHistory } from "../support/history.ts";

/** A file of a generated tree. The content of a submodule is its commit id. */
export interface MadeFile {
  readonly mode: "100644" | "100755" | "120000" | "160000";
  readonly content: string;
}

export type MadeTree = ReadonlyMap<string, MadeFile>;

/** Collects commits and stores them together. */
export class HistoryWriter {
  private readonly lines: string[] = [];
  private count = 0;

  /** @returns The commit's mark. */
  commit(tree: MadeTree, parents: readonly number[], message = ""): number {
    const mark = ++this.count;
    // Every commit has a different time, so that the order of commits is deterministic.
    const who = `A <a@example.com> ${1_700_000_000 + mark} +0000`;
    const { length: messageBytes } = Buffer.from(message, "latin1");
    this.lines.push(`commit refs/heads/c${mark}`, `mark :${mark}`, `committer ${who}`);
    this.lines.push(`data ${messageBytes}`, ...(message === "" ? [] : [message]));
    for (const [at, parent] of parents.entries()) {
      this.lines.push(`${at === 0 ? "from" : "merge"} :${parent}`);
    }
    this.lines.push("deleteall");
    for (const [path, { mode, content }] of tree) {
      if (mode === "160000") this.lines.push(`M ${mode} ${content} ${path}`);
      else {
        const { length } = Buffer.from(content, "latin1");
        this.lines.push(`M ${mode} inline ${path}`, `data ${length}`, content);
      }
    }
    return mark;
  }

  /** Stores the commits in a new repository. */
  async store(): Promise<StoredHistory & { oidOf: (mark: number) => string }> {
    const repository = makeRepository();
    const marks = join(repository, "marks");
    const input = Buffer.from(`${this.lines.join("\n")}\n`, "latin1");
    git(repository, ["fast-import", "--quiet", `--export-marks=${marks}`], { input });
    const oids = new Map<number, string>();
    for (const line of readFileSync(marks, "latin1").trim().split("\n")) {
      const [mark = "", oid = ""] = line.split(" ");
      oids.set(Number(mark.slice(1)), oid);
    }
    const history = await openHistory(repository);
    return { ...history, oidOf: (mark) => oids.get(mark) ?? "" };
  }
}

/** The result of merging two commits: the tree, and each conflicted entry in git's format. */
export interface Outcome {
  readonly isClean: boolean;
  readonly treeOid: string;
  readonly entries: readonly string[];
}

/**
 * Merges pairs of commits with `git merge-tree`, many in one process. An outcome is undefined if
 * git itself fails an assertion, as some versions do for renames of renames.
 */
export function mergeByGit(
  repository: string,
  pairs: readonly (readonly [ours: string, theirs: string])[],
  config: readonly string[] = [],
): (Outcome | undefined)[] {
  const settings = config.flatMap((setting) => ["-c", setting]);
  const args = ["merge-tree", "--write-tree", "--stdin", "--no-messages"];
  const { stdout, stderr, status } = spawnSync(
    "git",
    [...settings, ...args, "--allow-unrelated-histories"],
    {
      cwd: repository,
      input: pairs.map((pair) => `${pair.join(" ")}\n`).join(""),
      maxBuffer: 1 << 30,
      env: { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" },
    },
  );
  if (status !== 0) {
    if (!stderr.includes("Assertion")) throw new Error(`git merge-tree: ${stderr.toString()}`);
    if (pairs.length === 1) return [undefined];
    const middle = pairs.length >> 1;
    const halves = [pairs.slice(0, middle), pairs.slice(middle)];
    return halves.flatMap((half) => mergeByGit(repository, half, config));
  }
  const tokens = stdout.toString("latin1").split("\0");
  let at = 0;
  return pairs.map(() => {
    const isClean = tokens[at++] === "1";
    const treeOid = tokens[at++] ?? "";
    const entries: string[] = [];
    for (; tokens[at] !== ""; at++) entries.push(tokens[at] ?? "");
    at++;
    return { isClean, treeOid, entries };
  });
}

/** Merges a pair of commits with `mergeCommits`; `written` holds the objects passed to the sink. */
export async function mergeByUs(
  { graph, objects }: StoredHistory,
  [ours, theirs]: readonly [string, string],
  options: MergeOptions = {},
): Promise<Outcome & { merge: CommitMerge; written: Map<string, StoredObject> }> {
  const written = new Map<string, StoredObject>();
  const merge = await mergeCommits(
    graph,
    objects,
    graph.find(ours),
    graph.find(theirs),
    (kind, content) => written.set(hashObject(kind, content), { kind, content }),
    { labels: { ours, theirs }, ...options },
  );
  const paths = merge.kind === "conflicts" ? merge.paths : [];
  const entries = paths.flatMap(({ path, base, ours: our, theirs: their }) =>
    [base, our, their].flatMap((version, stage) => {
      if (!version) return [];
      const mode = version.mode.toString(8).padStart(6, "0");
      return [`${mode} ${version.oid} ${stage + 1}\t${path}`];
    }),
  );
  return { isClean: merge.kind === "merged", treeOid: merge.treeOid, entries, merge, written };
}
