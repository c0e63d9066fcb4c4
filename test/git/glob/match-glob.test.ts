import { describe, expect, it } from "vitest";

import { encodeText } from "../../../src/git/byte-text.ts";
import {
  anyCharacter,
  DIRECTORIES,
  type Glob,
  type GlobToken,
  literalToken,
  matchGlob,
  notSlash,
} from "../../../src/git/glob/match-glob.ts";
import { parseWildmatch } from "../../../src/git/glob/wildmatch.ts";

const text = (chars: string): Glob =>
  Array.from(chars, (char) => literalToken(char.codePointAt(0) as number));
const name: GlobToken = { kind: "many", accepts: notSlash };
const one: GlobToken = { kind: "one", accepts: anyCharacter };
const digits: GlobToken = { kind: "number", min: -5, max: 120 };

describe("matchGlob", () => {
  it.each<[string, Glob, string, string]>([
    ["characters", text("ab"), "ab", "a abc b"],
    [
      "any character, including surrogate pairs",
      [one, ...text("\u{1F600}"), one],
      "x\u{1F600}\u{1F601}",
      "x\u{1F600} \u{1F600}x",
    ],
    ["names", [...text("a"), name, ...text("c")], "ac abc accc", "a/c ab cac"],
    ["directories", [DIRECTORIES, ...text("x")], "x a/x a/b/x /x", "ax a/xx"],
    [
      "choices",
      [{ kind: "either", choices: [text("a"), [name, ...text("b")], []] }, ...text("!")],
      "a! b! cb! !",
      "c! a",
    ],
    ["numbers", [digits, ...text("!")], "0! -5! +120! 12!", "121! -6! 012! 1.0! ! x1!"],
    ["nothing", [], "", "a"],
  ])("matches %s", (_, glob, matching, others) => {
    const matches = (each: string) => matchGlob(glob, each);
    expect(matching.split(" ").filter((each) => !matches(each))).toEqual([]);
    expect(others.split(" ").filter(matches)).toEqual([]);
  });

  // SECURITY: patterns come from untrusted users, so the cost must not grow with the number of
  // possible starts.
  it("tests each character of the text at most once per token", () => {
    let tests = 0;
    const counted: GlobToken = { kind: "many", accepts: () => ++tests > 0 };
    const glob = Array.from({ length: 50 }, () => [counted, ...text("a")]).flat();
    expect(matchGlob([...glob, ...text("c"), counted, ...text("b")], `${"a".repeat(500)}b`)).toBe(
      false,
    );
    expect(tests).toBeLessThanOrEqual(51 * 501);
  });
});

describe("parseWildmatch", () => {
  it.each(["[", "[a", "[]", "[[:none:]]", "a\\", "[a-"])(
    "returns undefined for %j, which matches nothing",
    (pattern) => {
      expect(parseWildmatch(encodeText(pattern))).toBeUndefined();
    },
  );
});
