import { describe, expect, it } from "vitest";

import { matchRule, rulesOfBranch } from "../../../../src/domain/code/protections/match-rule.ts";
import { pathMatcherOf } from "../../../../src/domain/code/protections/rule-patterns.ts";
import { UNLIMITED } from "../../../../src/git/budget.ts";
import { encodeText } from "../../../../src/git/byte-text.ts";
import { ruleOf } from "../../../support/protections.ts";

/** Rules by name, in the order in which they were made; `name@5` has a chosen priority. */
const rulesOf = (...names: string[]) =>
  names.map((text, at) => {
    const [name = "", chosen] = text.split("@");
    const priority = chosen === undefined ? at + 1 : Number(chosen);
    return ruleOf({ id: at + 1, name, priority, isPriorityExplicit: chosen !== undefined });
  });

const applied = (names: readonly string[], branch: string) =>
  matchRule(rulesOf(...names), branch)?.name;

describe("matchRule", () => {
  it.each([
    [["main"], "main", "main"],
    [["Main"], "mAIN", "Main"],
    [["main"], "main2", undefined],
    [["rel/*"], "rel/1", "rel/*"],
    [["rel/*"], "REL/1", undefined],
    [["rel/*"], "rel/a/b", undefined],
    [["rel/**"], "rel/a/b", "rel/**"],
    [["**"], "a/b", "**"],
    [["{main,v[0-9]?}"], "v1x", "{main,v[0-9]?}"],
    [["[!a]"], "a", undefined],
    [["\\*"], "*", "\\*"],
  ])("of %j applies to %s: %s", (names, branch, expected) => {
    expect(applied(names, branch)).toBe(expected);
  });

  it.each([
    ["the first of several patterns", ["r/*", "*/1", "**"], "r/*"],
    ["an exact name that was made later", ["r/*", "r/1"], "r/1"],
    ["the first of two spellings", ["R/1", "r/1"], "R/1"],
    ["a pattern that was given the lowest priority", ["r/**@1", "r/1"], "r/**@1"],
    ["an exact name that was given the lowest one", ["r/*", "r/1@1"], "r/1@1"],
    ["a pattern before an exact name that was put behind it", ["r/*", "r/1@9"], "r/*"],
    ["the exact name where both have one priority", ["r/*@3", "r/1@3"], "r/1@3"],
    ["the chosen order of patterns", ["r/*@5", "**@2"], "**@2"],
    ["an exact name although a pattern behind the first was moved", ["r/*", "**@5", "r/1"], "r/1"],
  ])("applies %s", (_, names, expected) => {
    expect(applied(names, "r/1")).toBe(expected.split("@")[0]);
  });

  it("counts its work in the budget", () => {
    let steps = 0;
    const budget = { ...UNLIMITED, consume: (count: number) => void (steps += count) };
    matchRule(rulesOf("**/a", "main", "r/*"), "some/branch/a", budget);
    expect(steps).toBeGreaterThan(60);
  });
});

describe("rulesOfBranch", () => {
  it("finds one rule of the repository and one of its organization", () => {
    const rules = {
      branches: rulesOf("main", "m*"),
      rulesets: rulesOf("**", "main"),
      tags: [],
      callerTeamIds: [],
    };
    expect(rulesOfBranch(rules, "main").map(({ name }) => name)).toEqual(["main", "main"]);
    expect(rulesOfBranch(rules, "mx").map(({ name }) => name)).toEqual(["m*", "**"]);
    expect(rulesOfBranch(rules, "x").map(({ name }) => name)).toEqual(["**"]);
  });
});

describe("pathMatcherOf", () => {
  it.each([
    ["*.lock", "a.lock", true],
    ["*.lock", "A.Lock", true],
    ["*.lock", "x/a.lock", false],
    ["*.lock", "a.b.lock", false],
    ["**.lock", "x/a.b.lock", true],
    ["a; secret/** ;", "secret/x/y.txt", true],
    ["a;b", "b", true],
    ["a;b", "c", false],
    ["été", "Été", true],
  ])("%j and %s: %s", (list, path, expected) => {
    expect(pathMatcherOf(list)?.(encodeText(path), UNLIMITED)).toBe(expected);
  });

  it("is undefined for a list without patterns", () => {
    expect(pathMatcherOf(" ; ")).toBeUndefined();
  });
});
