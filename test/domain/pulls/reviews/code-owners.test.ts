import { describe, expect, it } from "vitest";

import { parseCodeOwners } from "../../../../src/domain/pulls/reviews/code-owners.ts";

const rule = (pattern: string, users: string[], isNegated = false) => ({
  pattern,
  isNegated,
  users,
  teams: [],
});

describe("parseCodeOwners", () => {
  it.each([
    ["a pattern with owners", ".*\\.go @a b", [rule("^.*\\.go$", ["a", "b"])]],
    ["a negated one", "!docs/.* @a", [rule("^docs/.*$", ["a"], true)]],
    ["a comment", "# all of it\n.* @a # of a\n", [rule("^.*$", ["a"])]],
    ["escaped characters", "a\\ b\\#\\\\.c @a", [rule("^a b#\\.c$", ["a"])]],
    ["tabs and carriage returns", ".*\t@a\r\n", [rule("^.*$", ["a"])]],
    ["a line without owners", ".*\n\n", []],
    ["an owner without a name", ".* @", [rule("^.*$", [])]],
  ])("reads %s", (_, text, rules) => {
    expect(parseCodeOwners(text)).toEqual(rules);
  });

  it("reads teams, with their organization", () => {
    expect(parseCodeOwners(".* @org/team @a/b/c")).toMatchObject([
      { users: [], teams: [{ org: "org", name: "team" }] },
    ]);
  });

  it("reads a thousand rules at most", () => {
    expect(parseCodeOwners(".* @a\n".repeat(2000)).length).toBe(1000);
  });
});
