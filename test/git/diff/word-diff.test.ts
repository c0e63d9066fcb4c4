import { describe, expect, it } from "vitest";

import { runNow, UNLIMITED } from "../../../src/git/budget.ts";
import { type WordRun, wordDiffInTurns } from "../../../src/git/diff/word-diff.ts";
import { makeRandom } from "../support/random.ts";

const format = (runs: readonly WordRun[]): string =>
  runs.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("");

/** Both lines with changed parts in brackets. */
function compare(left: string, right: string): [string, string] | undefined {
  const words = runNow(wordDiffInTurns(left, right, UNLIMITED));
  return words && [format(words.left), format(words.right)];
}

describe("the words of two lines", () => {
  it.each([
    ["const a = 1;", "const a = 2;", "const a = [1];", "const a = [2];"],
    ["f(a, b)", "f(a, b, c)", "f(a, b)", "f(a, b[, c])"],
    ["one two three four", "one 2 3 four", "one [two three] four", "one [2 3] four"],
    ["über alles", "über allem", "über [alles]", "über [allem]"],
    ["a\tb", "a  b", "a[\t]b", "a[  ]b"],
    ["same", "same", "same", "same"],
    ["x 😀 y", "x 😁 y", "x [😀] y", "x [😁] y"],
  ])("%j and %j", (left, right, ...marked) => {
    expect(compare(left, right)).toEqual(marked);
  });

  it.each([
    ["have nothing in common", "return null;", "const other = 7"],
    ["have only white space in common", "    a", "    b"],
    ["are empty", "", ""],
    ["are long", "a ".repeat(501), "a ".repeat(500)],
  ])("are not compared for lines that %s", (_, left, right) => {
    expect(compare(left, right)).toBeUndefined();
  });

  it("make up the lines, and the unchanged ones are the same on both sides", () => {
    const random = makeRandom(7);
    const words = ["a", "b", " ", "(", "word", "\t", "é"];
    const makeLine = () => Array.from({ length: 12 }, () => random.pick(words)).join("");
    let compared = 0;
    for (let round = 0; round < 2000; round++) {
      const [left, right] = [makeLine(), makeLine()];
      const found = runNow(wordDiffInTurns(left, right, UNLIMITED));
      if (!found) continue;
      compared++;
      const textOf = (runs: readonly WordRun[]) => runs.map(({ text }) => text).join("");
      const common = (runs: readonly WordRun[]) =>
        textOf(runs.filter(({ isChanged }) => !isChanged)).replaceAll(/\s/g, "");
      expect(textOf(found.left)).toBe(left);
      expect(textOf(found.right)).toBe(right);
      expect(common(found.left), `${left} / ${right}`).toBe(common(found.right));
    }
    expect(compared).toBeGreaterThan(100);
  });
});
