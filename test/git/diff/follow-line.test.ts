import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { UNLIMITED } from "../../../src/git/budget.ts";
import { followIn } from "../../../src/git/diff/follow-line.ts";
import { diffLines } from "../../../src/git/diff/line-diff.ts";
import { StepBudget } from "../../../src/lib/step-budget.ts";
import { git, makeDirectory } from "../support/git.ts";
import { makeRandom, type Random } from "../support/random.ts";

const followLine = async (
  before: Uint8Array,
  after: Uint8Array,
  line: number,
): Promise<number | undefined> => followIn(await diffLines(before, after, UNLIMITED), line);

/**
 * Where git blames lines of the older of two commits: their number there, and where they are now.
 */
function blameByGit(directory: string, older: string): Map<number, number> {
  const followed = new Map<number, number>();
  const text = git(directory, ["blame", "-s", "-n", "-l", "--root", "HEAD", "--", "f"]);
  for (const line of text.split("\n")) {
    const [, commitOid, was, is] = /^(\w{40})\s+(\d+)\s+(\d+)\)/.exec(line) ?? [];
    if (commitOid === older) followed.set(Number(was), Number(is));
  }
  return followed;
}

const makeLines = (random: Random): string[] =>
  Array.from({ length: 1 + random.below(40) }, () =>
    random.pick(["", "}", "{", "  x", `w${random.below(30)}`]),
  );

function edit(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let round = 0; round < 1 + random.below(4); round++) {
    const at = random.below(edited.length + 1);
    const removed = random.below(4);
    edited.splice(at, removed, ...makeLines(random).slice(0, random.below(4)));
  }
  return edited.length > 0 ? edited : ["left"];
}

const textOf = (random: Random, lines: readonly string[]): string =>
  lines.join("\n") + (random.below(5) === 0 ? "" : "\n");

describe("following a line", () => {
  it("agrees with git blame", { timeout: 120_000 }, async () => {
    const random = makeRandom(23);
    const directory = makeDirectory();
    git(directory, ["init", "--quiet", "--initial-branch=main"]);
    let followed = 0;
    for (let round = 0; round < 60; round++) {
      const lines = makeLines(random);
      const [old, fresh] = [textOf(random, lines), textOf(random, edit(random, lines))];
      const commit = (text: string): string => {
        writeFileSync(join(directory, "f"), text);
        git(directory, ["add", "f"]);
        git(directory, ["commit", "--quiet", "--allow-empty", "-m", "x"]);
        return git(directory, ["rev-parse", "HEAD"]);
      };
      git(directory, ["checkout", "--quiet", "--orphan", `round-${round}`]);
      const older = commit(old);
      commit(fresh);
      const expected = blameByGit(directory, older);
      const diff = await diffLines(encodeUtf8(old), encodeUtf8(fresh));
      for (let line = 1; line <= diff.left.count; line++) {
        expect(followIn(diff, line), `${old}---\n${fresh}line ${line}`).toBe(expected.get(line));
        if (expected.has(line)) followed++;
      }
    }
    expect(followed).toBeGreaterThan(500);
  });

  it("finds lines that moved down and up, and loses those that changed or went", async () => {
    const [old, fresh] = [encodeUtf8("a\nb\nc\nd\ne\n"), encodeUtf8("x\ny\na\nB\nd\ne\n")];
    const follow = (line: number) => followLine(old, fresh, line);
    expect(await Promise.all([1, 2, 3, 4, 5].map(follow))).toEqual([3, undefined, undefined, 5, 6]);
    expect(await Promise.all([0, -1, 6, Number.NaN].map(follow))).toEqual(Array(4).fill(undefined));
    expect(await followLine(old, old, 3)).toBe(3);
    expect(await followLine(old, new Uint8Array(), 3)).toBeUndefined();
  });

  it("counts a line as changed where the comparison takes too much", async () => {
    const random = makeRandom(4);
    const make = () =>
      encodeUtf8(Array.from({ length: 3000 }, () => `${random.below(400)}\n`).join(""));
    const [old, fresh] = [make(), make()];
    const lines = Array.from({ length: 100 }, (_, at) => at + 1);
    const follow = async (budget?: StepBudget) => {
      const diff = await diffLines(old, fresh, budget);
      return lines.filter((line) => followIn(diff, line) !== undefined);
    };
    expect(await follow()).not.toEqual([]);
    expect(await follow(new StepBudget(200_000))).toEqual([]);
  });
});
