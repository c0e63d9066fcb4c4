import { describe, expect, it } from "vitest";
import { UNLIMITED } from "../../../src/git/budget.ts";
import { mergeLines } from "../../../src/git/merge/merge-lines.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { HistoryWriter, type MadeFile, mergeByGit, mergeByUs } from "./histories.ts";

const TEXTS = 300;

/** Code-like lines: many equal, some indented, some blank, sometimes with CRLF line ends. */
function makeText(random: Random): string[] {
  const end = random.below(8) === 0 ? "\r\n" : "\n";
  const lines = Array.from({ length: random.below(40) }, () => {
    const indent = "  ".repeat(random.below(4));
    const body = random.pick([
      "",
      "}",
      "{",
      "end",
      `line ${random.below(50)}`,
      `x = ${random.below(9)}`,
    ]);
    return `${indent}${body}${end}`;
  });
  // A very frequent line makes the comparison fall back to its other algorithm.
  if (random.below(10) === 0) lines.push(...Array.from({ length: 90 }, () => "same\n"));
  return lines;
}

function edit(random: Random, from: readonly string[]): string[] {
  const lines = [...from];
  for (let times = random.below(5); times > 0; times--) {
    const at = random.below(lines.length + 1);
    const fresh = Array.from({ length: random.below(4) }, () => `  new ${random.below(5)}\n`);
    lines.splice(at, random.below(4), ...fresh);
  }
  if (random.below(6) === 0) lines.push("no end");
  return lines;
}

const fileOf = (lines: readonly string[]): MadeFile => ({
  mode: "100644",
  content: lines.join(""),
});

/**
 * A history whose single merge covers many files, so that git's result is one tree with conflict
 * markers.
 */
async function makeHistory() {
  const random = makeRandom(21);
  const [base, ours, theirs] = [new Map(), new Map(), new Map()] as Map<string, MadeFile>[];
  for (let number = 0; number < TEXTS; number++) {
    const path = `text${number}`;
    const text = makeText(random);
    const ourText = edit(random, text);
    base?.set(path, fileOf(text));
    ours?.set(path, fileOf(ourText));
    theirs?.set(path, fileOf(edit(random, random.below(6) === 0 ? ourText : text)));
  }
  // Files that both sides add are merged too, without a base.
  for (let number = 0; number < TEXTS / 10; number++) {
    const text = makeText(random);
    ours?.set(`added${number}`, fileOf(edit(random, text)));
    theirs?.set(`added${number}`, fileOf(edit(random, text)));
  }
  const writer = new HistoryWriter();
  const root = writer.commit(base ?? new Map(), []);
  const marks = [
    writer.commit(ours ?? new Map(), [root]),
    writer.commit(theirs ?? new Map(), [root]),
  ];
  const history = await writer.store();
  const [left = "", right = ""] = marks.map((mark) => history.oidOf(mark));
  return { history, pair: [left, right] as const };
}

describe("mergeLines", () => {
  it.each(["merge", "diff3"] as const)(
    "produces the texts and markers of git in the style %s",
    async (style) => {
      const { history, pair } = await makeHistory();
      const [theirs] = mergeByGit(history.repository, [pair], [`merge.conflictStyle=${style}`]);
      const { isClean, treeOid, entries } = await mergeByUs(history, pair, { style });
      expect(isClean).toBe(false);
      expect(entries.length).toBeGreaterThan(TEXTS / 2);
      expect({ isClean, treeOid, entries }).toEqual(theirs);
    },
  );
});

describe("a merge of three texts of equally frequent lines in other orders", () => {
  const LINES = 20_000;
  const textOf = (seed: number): Uint8Array => {
    const random = makeRandom(seed);
    return Buffer.from(Array.from({ length: LINES }, () => `${random.below(200)}\n`).join(""));
  };
  /** A budget of so many steps. */
  const budgetOf = (stepsMax: number) => {
    let used = 0;
    const budget = {
      ...UNLIMITED,
      consume: (steps: number) => void (used += steps),
      get isExhausted() {
        return used >= stepsMax;
      },
    };
    return { budget, used: () => used };
  };
  const merge = async (stepsMax: number): Promise<number> => {
    const { budget, used } = budgetOf(stepsMax);
    try {
      await mergeLines(textOf(1), textOf(2), textOf(3), "merge", budget);
    } catch (error) {
      expect(error).toMatchObject({ code: "limit" });
      return used();
    }
    return expect.fail(`merged in ${used()} steps`);
  };

  it("ends soon after its budget is used up, with the code of a limit", async () => {
    for (const stepsMax of [200_000, 2_000_000, 10_000_000]) {
      expect(await merge(stepsMax)).toBeLessThan(1.2 * stepsMax + 1_000_000);
    }
  });
});
