import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { encodeText } from "../../../src/git/byte-text.ts";
import {
  buildMerge,
  type BuildStyle,
  type MergeWriter,
} from "../../../src/git/merge/build-merge.ts";
import { formatCommit } from "../../../src/git/object/commit.ts";
import type { Identity } from "../../../src/git/object/identity.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { codec } from "../support/codec.ts";
import { git } from "../support/git.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { HistoryWriter, type MadeTree } from "./histories.ts";
import { caseCount } from "../../support/sample.ts";

/** 500 pairs of branches take some minutes, most of them git's. */
const PAIRS = caseCount(10, 100);

const STYLES: readonly BuildStyle[] = [
  "merge",
  "squash",
  "rebase",
  "rebase-merge",
  "fast-forward-only",
];

const identity = (name: string): Identity => ({
  name: encodeText(name),
  email: encodeText(`${name.toLowerCase()}@example.com`),
  timeSeconds: 1_800_000_000,
  zone: "+0000",
});

const MESSAGE = "A title\n\nand a body\n";
const WRITER: MergeWriter = {
  message: encodeText(MESSAGE),
  author: identity("Poster"),
  committer: identity("Merger"),
  format: (commit) => Promise.resolve(formatCommit({ ...commit, headers: [] })),
};

/** The same people for git. */
const PEOPLE = {
  GIT_AUTHOR_NAME: "Poster",
  GIT_AUTHOR_EMAIL: "poster@example.com",
  GIT_AUTHOR_DATE: "1800000000 +0000",
  GIT_COMMITTER_NAME: "Merger",
  GIT_COMMITTER_EMAIL: "merger@example.com",
  GIT_COMMITTER_DATE: "1800000000 +0000",
};

/** One change of a tree, which may be made to several trees. */
type Edit = (tree: Map<string, { mode: "100644" | "100755"; content: string }>) => void;

/** Edits of single lines far apart, so that most branches merge, and some do not. */
function makeEdit(random: Random, count: number): Edit {
  const path = `f${random.below(6)}`;
  const line = random.below(30);
  const kind = random.below(14);
  return (tree) => {
    const file = tree.get(path);
    if (!file) tree.set(path, { mode: "100644", content: `again ${count}\n` });
    else if (kind === 0) tree.delete(path);
    else if (kind === 1) {
      tree.delete(path);
      tree.set(`dir/${path}`, file);
    } else if (kind === 2) tree.set(path, { ...file, mode: "100755" });
    else if (kind === 3) tree.set(`new${count}`, { mode: "100644", content: `new ${count}\n` });
    else {
      const lines = file.content.split("\n");
      lines.splice(line, kind < 6 ? 0 : 1, `changed ${count}`);
      tree.set(path, { ...file, content: lines.join("\n") });
    }
  };
}

interface Branch {
  readonly mark: number;
  readonly tree: MadeTree;
}

/**
 * Two branches with a common root; some commits are on both, some are empty, some merge the other
 * branch.
 */
function makeBranches(random: Random, writer: HistoryWriter): readonly [Branch, Branch] {
  let count = 0;
  const files = Array.from({ length: 6 }, (_, at) => {
    const lines = Array.from({ length: 30 }, (_each, line) => `line ${line} of ${at}\n`);
    return [`f${at}`, { mode: "100644", content: lines.join("") }] as const;
  });
  const tree: MadeTree = new Map(files);
  const root: Branch = { mark: writer.commit(tree, [], "root\n"), tree };
  const branches: [Branch, Branch] = [root, root];
  const edits: Edit[] = [];
  const add = (side: 0 | 1, made: MadeTree, parents: number[]): void => {
    const message = `commit ${++count}\n${random.below(3) === 0 ? "\nwith  a body \n\n\n" : ""}`;
    branches[side] = { mark: writer.commit(made, parents, message), tree: made };
  };
  for (let left = 2 + random.below(6); left > 0; left--) {
    const side = random.below(3) === 0 ? 0 : 1;
    const own = branches[side];
    const dice = random.below(12);
    const changed = new Map(own.tree);
    if (dice === 0 && branches[0].mark !== own.mark) {
      const other = branches[0];
      for (const [path, file] of other.tree) if (!changed.has(path)) changed.set(path, file);
      add(side, changed, [own.mark, other.mark]);
      continue;
    }
    const known = random.below(5) === 0 ? edits.at(random.below(edits.length || 1)) : undefined;
    const edit = known ?? makeEdit(random, ++count);
    edits.push(edit);
    if (dice !== 1) edit(changed as Parameters<Edit>[0]);
    add(side, changed, [own.mark]);
  }
  return branches;
}

/** What git makes of a base and a head: the commit, or why there is none. */
function mergeByGit(tree: string, style: BuildStyle, base: string, head: string): string {
  const run = (...args: string[]): string => git(tree, args, { env: PEOPLE, mayFail: true });
  const isAncestor = (a: string, b: string): boolean => git(tree, ["merge-base", a, b]) === a;
  const tip = (): string => git(tree, ["rev-parse", "HEAD"]);
  const checkOut = (oid: string): void => void git(tree, ["checkout", "-q", "--detach", oid]);
  const hasConflicts = (): boolean => git(tree, ["ls-files", "--unmerged"]) !== "";
  const abort = (command: string): string => {
    git(tree, [command, "--abort"], { mayFail: true });
    git(tree, ["reset", "-q", "--hard"]);
    git(tree, ["clean", "-fdxq"]);
    return "conflicts";
  };
  if (isAncestor(head, base)) return "unchanged";
  const commit = (): string => {
    const message = ["--cleanup=verbatim", "--allow-empty-message", `-m${MESSAGE.slice(0, -1)}`];
    run("commit", "-q", ...message);
    return tip();
  };
  checkOut(base);
  switch (style) {
    case "fast-forward-only":
      return isAncestor(base, head) ? head : "diverged";
    case "merge":
      run("merge", "-q", "--no-ff", "--no-commit", head);
      return hasConflicts() ? abort("merge") : commit();
    case "squash":
      run("merge", "-q", "--squash", head);
      if (hasConflicts()) return abort("merge");
      return git(tree, ["status", "--porcelain"]) === "" ? "unchanged" : commit();
    default: {
      checkOut(head);
      run("rebase", "-q", base);
      if (hasConflicts()) return abort("rebase");
      const rebased = tip();
      if (rebased === base) return "unchanged";
      if (style === "rebase") return rebased;
      checkOut(base);
      run("merge", "-q", "--no-ff", "--no-commit", rebased);
      return commit();
    }
  }
}

describe("buildMerge agrees with git", { timeout: 600_000 }, () => {
  it.each(STYLES)("in the style %s, to the id of the commit", async (style) => {
    const random = makeRandom(21);
    const writer = new HistoryWriter();
    const marks = Array.from({ length: PAIRS }, () =>
      makeBranches(random, writer).map(({ mark }) => mark),
    );
    const history = await writer.store();
    const { repository, graph, objects, oidOf } = history;
    const tree = join(repository, "checked-out");
    git(repository, ["worktree", "add", "-q", "--detach", tree, "c1"]);
    const pack = new PackBuilder(codec);
    const tips: string[] = [];
    const counts = new Map<string, number>();
    for (const [baseMark = 0, headMark = 0] of marks) {
      const [base, head] = [oidOf(baseMark), oidOf(headMark)];
      const ends = { graph, objects, base: graph.find(base), head: graph.find(head) };
      const built = await buildMerge(ends, style, WRITER);
      const ours = built.kind === "built" ? built.tipOid : built.kind;
      expect({ base, head, result: ours }).toEqual({
        base,
        head,
        result: mergeByGit(tree, style, base, head),
      });
      counts.set(built.kind, (counts.get(built.kind) ?? 0) + 1);
      if (built.kind !== "built") continue;
      tips.push(built.tipOid);
      for (const { kind, content } of built.objects) pack.add(kind, content);
    }
    expect(counts.get("built")).toBeGreaterThan(PAIRS / 8);
    const other = style === "fast-forward-only" ? "diverged" : "conflicts";
    expect(counts.get(other)).toBeGreaterThan(0);
    // What is built stands in a repository by itself.
    if (pack.count > 0)
      git(repository, ["index-pack", "--strict", "--fix-thin", "--stdin"], { input: pack.build() });
    for (const [at, tip] of tips.entries()) git(repository, ["update-ref", `refs/tips/${at}`, tip]);
    expect(git(repository, ["fsck", "--strict", "--full"])).not.toMatch(/error|missing|broken/);
  });
});
