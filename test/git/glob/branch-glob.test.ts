import { describe, expect, it } from "vitest";

import { parseBranchGlob } from "../../../src/git/glob/branch-glob.ts";
import { type Glob, matchGlob } from "../../../src/git/glob/match-glob.ts";

function matches(pattern: string, text: string, separators = ""): boolean | undefined {
  const glob = parseBranchGlob(pattern, separators);
  return glob && matchGlob(glob, text);
}

describe("parseBranchGlob", () => {
  it.each([
    ["main", "main", true],
    ["main", "Main", false],
    ["main", "main2", false],
    ["", "", true],
    ["", "a", false],
    ["*", "", true],
    ["*", "a/b", true],
    ["**", "a/b", true],
    ["release/*", "release/1/x", true],
    ["release/*", "release", false],
    ["?ain", "main", true],
    ["?ain", "ain", false],
    ["a?b", "a/b", true],
    ["?", "\u{1F600}", true],
    ["[mn]ain", "nain", true],
    ["[a-c]1", "b1", true],
    ["[a-c]1", "d1", false],
    ["[!a-c]1", "d1", true],
    ["[!a-c]1", "a1", false],
    ["[a-]", "-", true],
    ["[\\]]", "]", true],
    ["{main,release/*}", "release/2", true],
    ["{main,release/*}", "mainx", false],
    ["{a,}b", "b", true],
    ["v{1,2{0,1}}", "v21", true],
    ["v{1,2{0,1}}", "v2", false],
    ["{a\\,b,c}", "a,b", true],
    ["a,b", "a,b", true],
    ["a}", "a}", true],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["*a*b*", "xxaxxbxx", true],
    ["*a*b*", "xxbxxaxx", false],
  ])("%j and %j: %j", (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it.each([
    ["*", "a/b", false],
    ["*/*", "a/b", true],
    ["a?b", "a/b", false],
    ["**", "a/b", true],
    ["release/**", "release/1/x", true],
    ["release/*", "release/1/x", false],
    ["{*,x}/c", "a/b/c", false],
  ])("with slashes as separators, %j and %j: %j", (pattern, text, expected) => {
    expect(matches(pattern, text, "/")).toBe(expected);
  });

  it.each(["[", "[a", "[]", "[!]", "[a-", "{", "{a", "{a,b", "\\", "a{b,[c}", "[\\"])(
    "refuses %j",
    (pattern) => {
      expect(parseBranchGlob(pattern)).toBeUndefined();
    },
  );

  it.each([
    ["***", "a/b", true],
    ["****/c", "a/b/c", true],
    ["***b", "a/b", true],
    ["***b", "a/c", false],
    ["a***", "b", false],
    ["{*,x}*", "ab", true],
    ["{*,x}*", "a/b", false],
  ])("treats adjacent stars as one, %j and %j: %j", (pattern, text, expected) => {
    expect(matches(pattern, text, "/")).toBe(expected);
  });

  it.each([
    ["*a".repeat(64), "*a".repeat(65)],
    ["{*,**}".repeat(32), "{*,**}".repeat(32) + "*"],
    [nested(10), nested(11)],
    ["*".repeat(5000), "{".repeat(5000)],
    ["{a}".repeat(1000), nested(5000)],
    ["[*]\\*?".repeat(1000), "?*".repeat(1000)],
  ])("accepts %.8s… up to a limit of parts", (most, tooMuch) => {
    expect(parseBranchGlob(most)).toBeDefined();
    expect(parseBranchGlob(tooMuch)).toBeUndefined();
  });

  // SECURITY: any user may set a pattern, and it is matched on every push.
  it.each([
    ["*a".repeat(64), false],
    ["*a".repeat(62) + "*c*b", false],
    ["{*,*a,**}".repeat(21), true],
    [nested(10), false],
    ["{" + "a,".repeat(2000) + "}**b", true],
    ["b" + "{a,b}".repeat(2000), false],
    ["*".repeat(5000), true],
  ])(
    "tests each character once for each part of a pattern made to be slow: %.12s",
    (pattern, expected) => {
      const text = "a".repeat(2000) + "b";
      const counted = countTests(parseBranchGlob(pattern) ?? []);
      expect(matchGlob(counted.glob, text)).toBe(expected);
      expect(counted.testCount).toBeLessThanOrEqual(counted.tokenCount * (text.length + 1));
    },
  );
});

/** A glob that counts how often a character is tested. */
function countTests(glob: Glob) {
  const counted = { glob: [] as Glob, testCount: 0, tokenCount: 0 };
  const wrap = (tokens: Glob): Glob =>
    tokens.map((token) => {
      counted.tokenCount++;
      if (token.kind === "either") return { ...token, choices: token.choices.map(wrap) };
      if (token.kind === "number") return token;
      const accepts = (code: number) => ++counted.testCount > 0 && token.accepts(code);
      return { ...token, accepts };
    });
  counted.glob = wrap(glob);
  return counted;
}

function nested(depth: number): string {
  return "{".repeat(depth) + "a" + "}".repeat(depth);
}
