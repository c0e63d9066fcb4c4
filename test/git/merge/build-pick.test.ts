import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { encodeText } from "../../../src/git/byte-text.ts";
import type { MergeWriter } from "../../../src/git/merge/build-merge.ts";
import { buildPick, type BuiltPick } from "../../../src/git/merge/build-pick.ts";
import { formatCommit } from "../../../src/git/object/commit.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { NO_NODE } from "../../../src/git/walk/commit-graph.ts";
import { caseCount } from "../../support/sample.ts";
import { codec } from "../support/codec.ts";
import { git } from "../support/git.ts";
import { makeRandom } from "../support/random.ts";
import { HistoryWriter, type MadeFile, type MadeTree } from "./histories.ts";

/** Each runs git some times. */
const CASES = caseCount(25, 200);

const PERSON = {
  name: encodeText("Poster"),
  email: encodeText("poster@example.com"),
  timeSeconds: 1_800_000_000,
  zone: "+0000",
};
const WRITER: MergeWriter = {
  message: encodeText("A change\n"),
  author: PERSON,
  committer: PERSON,
  format: (commit) => Promise.resolve(formatCommit({ ...commit, headers: [] })),
};

const makeFile = (name: string): MadeFile => ({
  mode: "100644",
  content: Array.from({ length: 30 }, (_, line) => `line ${line} of ${name}\n`).join(""),
});

/** Changes a line, or a whole file, of a tree. */
function change(tree: MadeTree, random: ReturnType<typeof makeRandom>, count: number): MadeTree {
  const changed = new Map(tree);
  const names = [...tree.keys()];
  const name = names[random.below(names.length)] ?? "a";
  const file = tree.get(name) ?? makeFile(name);
  const kind = random.below(8);
  if (kind === 0) changed.delete(name);
  else if (kind === 1) changed.set(`new${count}`, makeFile(`new${count}`));
  else if (kind === 2) {
    changed.delete(name);
    changed.set(`moved/${name}`, file);
  } else {
    const lines = file.content.split("\n");
    lines.splice(random.below(30), 1, `changed ${count}`);
    changed.set(name, { ...file, content: lines.join("\n") });
  }
  return changed;
}

/** What git makes of a command that picks: the new tree, or why there is none. */
function pickByGit(tree: string, tip: string, args: readonly string[]): string {
  git(tree, ["checkout", "-q", "--detach", tip]);
  git(tree, [...args, "--no-commit"], { mayFail: true });
  const isUnmerged = git(tree, ["ls-files", "--unmerged"]) !== "";
  const result = isUnmerged ? "conflicts" : git(tree, ["write-tree"]);
  git(tree, ["reset", "-q", "--hard"]);
  git(tree, ["clean", "-fdxq"]);
  return result === git(tree, ["rev-parse", `${tip}^{tree}`]) ? "unchanged" : result;
}

describe("buildPick agrees with git", { timeout: 600_000 }, () => {
  it("about reverts and cherry-picks of commits, of merges and of the first one", async () => {
    const random = makeRandom(5);
    const writer = new HistoryWriter();
    const root: MadeTree = new Map(["a", "b", "c", "d"].map((name) => [name, makeFile(name)]));
    const made = [{ mark: writer.commit(root, []), tree: root, parents: [] as number[] }];
    const lastOf = (back: number) => made[made.length - 1 - random.below(back)] ?? made[0];
    for (let count = 0; count < CASES; count++) {
      const own = lastOf(3);
      const other = lastOf(5);
      if (!own || !other) continue;
      const isMerge = random.below(4) === 0 && own.mark !== other.mark;
      const tree = isMerge
        ? new Map([...other.tree, ...own.tree])
        : change(own.tree, random, count);
      const parents = isMerge ? [own.mark, other.mark] : [own.mark];
      made.push({ mark: writer.commit(tree, parents), tree, parents });
    }
    const { repository, graph, objects, oidOf } = await writer.store();
    const work = join(repository, "checked-out");
    git(repository, ["worktree", "add", "-q", "--detach", work, "c1"]);
    const pack = new PackBuilder(codec);
    const counts = new Map<string, number>();
    /** Picks that conflict here, and not for git: safe, and rare. */
    const stricter: string[] = [];
    const treeOfResult = (built: BuiltPick, tip: string): string => {
      if (built.kind !== "built") return built.kind;
      for (const { kind, content } of built.objects) pack.add(kind, content);
      const last = built.objects.at(-1);
      const text = Buffer.from(last?.content ?? []).toString("latin1");
      expect(text).toMatch(/\n\nA change\n$/);
      expect(text.match(/^parent .*$/gm)).toEqual([`parent ${tip}`]);
      return /^tree (.*)$/m.exec(text)?.[1] ?? "";
    };
    for (const { mark, parents } of made) {
      const [commit, tip] = [oidOf(mark), oidOf(lastOf(8)?.mark ?? 1)];
      const mainline = parents.length > 1 ? ["-m", "1"] : [];
      const node = graph.find(commit);
      const [parent = NO_NODE] = graph.parents(node);
      for (const [command, from, to] of [
        ["revert", node, parent],
        ["cherry-pick", parent, node],
      ] as const) {
        const ends = { graph, objects, tip: graph.find(tip), from, to };
        const built = await buildPick(ends, WRITER);
        counts.set(built.kind, (counts.get(built.kind) ?? 0) + 1);
        const expected = pickByGit(work, tip, [command, ...mainline, commit]);
        if (built.kind === "conflicts" && expected !== "conflicts") {
          stricter.push(`${command} ${commit} on ${tip}`);
          continue;
        }
        expect({ command, commit, tip, result: treeOfResult(built, tip) }).toEqual({
          command,
          commit,
          tip,
          result: expected,
        });
      }
    }
    expect(stricter.length, stricter.join("\n")).toBeLessThanOrEqual(made.length / 50);
    for (const kind of ["built", "conflicts", "unchanged"]) {
      expect(counts.get(kind), kind).toBeGreaterThan(0);
    }
    git(repository, ["index-pack", "--strict", "--fix-thin", "--stdin"], { input: pack.build() });
  });
});
