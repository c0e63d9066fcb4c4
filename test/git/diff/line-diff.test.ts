import { runNow, UNLIMITED } from "../../../src/git/budget.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { compareLines, diffLines, isBinary } from "../../../src/git/diff/line-diff.ts";
import { splitInTurns } from "../../../src/git/diff/lines.ts";
import { formatHunk, makeHunks } from "../../../src/git/diff/unified.ts";
import type { Whitespace } from "../../../src/git/diff/whitespace.ts";
import { git, gitBytes, makeDirectory, makeFixture } from "../support/git.ts";
import { makeRandom, type Random } from "../support/random.ts";

const directory = makeDirectory();

/** Git's diff of two texts, from the first hunk on. */
function diffByGit(
  left: string,
  right: string,
  context = 3,
  options: readonly string[] = [],
): string {
  writeFileSync(join(directory, "left"), left, "latin1");
  writeFileSync(join(directory, "right"), right, "latin1");
  const shown = ["--no-index", "--no-color", `-U${context}`, ...options];
  const args = ["diff", ...shown, "left", "right"];
  const text = gitBytes(directory, args, { mayFail: true }).toString("latin1");
  const start = text.indexOf("\n@@ ");
  return start < 0 ? "" : text.slice(start + 1);
}

async function diffByUs(
  left: string,
  right: string,
  context = 3,
  whitespace?: Whitespace,
): Promise<string> {
  const [from, to] = [Buffer.from(left, "latin1"), Buffer.from(right, "latin1")];
  const diff = await diffLines(from, to, UNLIMITED, whitespace);
  return makeHunks(diff, context).map(formatHunk).join("");
}

/** Code-like text with blocks, blank lines and repeated closing braces. */
function makeText(random: Random, lines: number, words: number): string {
  let text = "";
  let depth = 0;
  for (let line = 0; line < lines; line++) {
    const indent = random.below(2) === 0 ? "  ".repeat(depth) : "\t".repeat(depth);
    const shape = random.below(6);
    if (shape === 0) text += "\n";
    else if (shape === 1 && depth < 5)
      text += `${indent}if (w${random.below(words)}) {\n${depth++ && ""}`;
    else if (shape === 2 && depth > 0) text += `${"  ".repeat(--depth)}}\n`;
    else text += `${indent}w${random.below(words)}();\n`;
  }
  return random.below(4) === 0 ? text.trimEnd() : text;
}

/** Edits a text by inserting, removing, repeating and moving runs of lines. */
function edit(random: Random, text: string, times: number): string {
  const lines = text.split("\n");
  for (let round = 0; round < times; round++) {
    const at = random.below(lines.length + 1);
    const count = 1 + random.below(6);
    switch (random.below(4)) {
      case 0:
        lines.splice(at, count);
        break;
      case 1:
        lines.splice(at, 0, ...lines.slice(at, at + count));
        break;
      case 2:
        lines.splice(at, 0, ...Array.from({ length: count }, () => `  new${random.below(50)}();`));
        break;
      default:
        lines.splice(random.below(lines.length + 1), 0, ...lines.splice(at, count));
    }
  }
  return lines.join("\n");
}

describe("a line diff", () => {
  it("equals git's for texts of many shapes", async () => {
    const random = makeRandom(11);
    for (let round = 0; round < 150; round++) {
      const left = makeText(
        random,
        random.below(random.pick([5, 60, 400])),
        random.pick([3, 20, 500]),
      );
      const right = edit(random, left, random.below(12));
      const context = random.pick([3, 0, 10]);
      expect(await diffByUs(left, right, context)).toBe(diffByGit(left, right, context));
    }
  });

  it.each([
    ["ignore-all", "-w"],
    ["ignore-change", "-b"],
    ["ignore-eol", "--ignore-space-at-eol"],
  ] as const)("equals git's with white space compared by %s", async (whitespace, option) => {
    const random = makeRandom(14);
    const spaces = [" ", "  ", "\t", " \t ", "\r", "\v", "", ""];
    const respace = (text: string): string =>
      text.replaceAll(/[ \t]+|(?=[({;\n])/g, (found) =>
        random.below(4) > 0 ? found : random.pick(spaces),
      );
    let equal = 0;
    for (let round = 0; round < 120; round++) {
      const left = makeText(random, random.below(random.pick([5, 60, 200])), random.pick([5, 99]));
      const right = respace(edit(random, left, random.below(4)));
      const expected = diffByGit(left, right, 3, [option]);
      expect(await diffByUs(left, right, 3, whitespace)).toBe(expected);
      if (left !== right && expected === "") equal++;
    }
    expect(equal).toBeGreaterThan(0);
  });

  // Leaving white space out of a line takes three times as long as reading it, however short it is.
  it.each(["ignore-all", "ignore-change", "ignore-eol"] as const)(
    "counts the work to compare short lines by %s",
    (whitespace) => {
      const lines = Buffer.from("a b\n".repeat(100_000));
      const stepsOf = (mode?: Whitespace): number => {
        const consume = vi.fn<(steps: number) => void>();
        runNow(splitInTurns(lines, lines, { ...UNLIMITED, consume }, mode));
        return consume.mock.calls.reduce((sum, [steps]) => sum + steps, 0);
      };
      expect(stepsOf(whitespace)).toBeGreaterThan(3 * stepsOf());
    },
  );

  it("equals git's histogram diff for merges", () => {
    const random = makeRandom(13);
    for (let round = 0; round < 60; round++) {
      const left = makeText(random, random.below(300), random.pick([2, 20, 500]));
      const right = edit(random, left, random.below(12));
      const pair = runNow(
        splitInTurns(Buffer.from(left, "latin1"), Buffer.from(right, "latin1"), UNLIMITED),
      );
      const changes = compareLines(pair, "merge");
      const ours = makeHunks({ ...pair, changes, isReplacedWhole: false })
        .map(formatHunk)
        .join("");
      const options = ["--histogram", "--no-indent-heuristic"];
      expect(ours).toBe(diffByGit(left, right, 3, options));
    }
  });

  // Texts with little in common make the search use its shortcuts.
  it("equals git's where finding the shortest script would take too long", async () => {
    const random = makeRandom(12);
    for (const [lines, words] of [
      [3000, 40],
      [4000, 4000],
      [2500, 900],
    ] as const) {
      const left = makeText(random, lines, words);
      const right = makeText(random, lines, words);
      expect(await diffByUs(left, right)).toBe(diffByGit(left, right));
    }
  });

  it.each([
    ["", ""],
    ["", "a\n"],
    ["a\n", ""],
    ["a", "a\n"],
    ["a\nb", "a\nc"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["x\n".repeat(50), "x\n".repeat(52)],
    ["f() {\n  a\n}\n\ng() {\n  b\n}\n", "f() {\n  a\n}\n\nh() {\n  c\n}\n\ng() {\n  b\n}\n"],
  ])("of %j and %j equals git's", async (left, right) => {
    expect(await diffByUs(left, right)).toBe(diffByGit(left, right));
  });

  it("treats content as binary if git does", () => {
    expect(isBinary(Buffer.from("text"))).toBe(false);
    expect(isBinary(Buffer.from("a\0b"))).toBe(true);
    expect(isBinary(Buffer.concat([Buffer.alloc(8000, "a"), Buffer.alloc(1)]))).toBe(false);
  });

  it("equals git's for each version of a file in a history", async () => {
    const repository = makeFixture("history");
    const blobs = git(repository, ["rev-list", "main", "--", "src/numbers.txt"])
      .split("\n")
      .slice(1)
      .map((commit) =>
        gitBytes(repository, ["show", `${commit}:src/numbers.txt`]).toString("latin1"),
      );
    for (const [at, text] of blobs.slice(1).entries()) {
      expect(await diffByUs(text, blobs[at] ?? "")).toBe(diffByGit(text, blobs[at] ?? ""));
    }
  });
});
